# CRIU's own test programs (zdtm), for `npm run test:zdtm`: built from the sources of the private CRIU's
# version, which are only fetched and never become part of this repository.

# probe:package, as in packages.sh
zdtm_packages='
/usr/include/libaio.h:libaio-dev
/usr/include/sys/capability.h:libcap-dev
xz:xz-utils
'

ensure_zdtm() {
  if [ -f "$runtime/zdtm/version" ]; then return; fi
  need_root "building CRIU's test programs"
  install_missing $zdtm_packages
  say "building CRIU's test programs from Debian $criu_suite (takes about a minute)"
  debian_download_source criu $criu_suite
  mkdir "$scratch/zdtm-sources"
  quietly tar -xf "$debian_sources"/criu_*.orig.tar.* -C "$scratch/zdtm-sources" --strip-components=1 ||
    fail_with_output "could not unpack CRIU's sources" "check the free space of $runtime (df -h $runtime)"
  zdtm_build "$scratch/zdtm-sources/test/zdtm"
  zdtm_collect "$scratch/zdtm-sources/test/zdtm/static" "$scratch/zdtm"
  replace_directory "$scratch/zdtm" "$runtime/zdtm"
}

# zdtm_build DIRECTORY: some programs need libraries that are not worth installing for them, so make
# continues after errors, and only a build that made next to nothing is a failure.
zdtm_build() {
  quietly make -C "$1/lib" -j2 all || fail_with_output "could not build the library of CRIU's tests" \
    'report this with the lines above'
  quietly make -C "$1/static" -k -j2 all || :
  [ -x "$1/static/futex" ] || fail_with_output "could not build CRIU's test programs" \
    'report this with the lines above'
}

# zdtm_collect DIRECTORY RESULT: the programs, the command lines that their Makefile would start them
# with, and their descriptions.
zdtm_collect() {
  mkdir -p "$2/programs" "$2/descriptions"
  printf 'include Makefile\nzdtm-names:\n\t@printf "%%s\\n" $(TST)\n' >"$1/names.mk"
  (cd "$1" && make -s -f names.mk zdtm-names) >"$2/all"
  while read -r name; do
    [ -x "$1/$name" ] || continue
    strip -o "$2/programs/$name" "$1/$name"
    [ ! -e "$1/$name.desc" ] || cp "$1/$name.desc" "$2/descriptions/$name"
    # Those with a state file instead of a pid file have no such rule.
    (cd "$1" && make -n "$name.pid" 2>/dev/null) | grep -- '--pidfile=' >>"$2/commands" || :
  done <"$2/all"
  basename "$debian_sources"/criu_*.orig.tar.* | sed 's/^criu_//; s/\.orig\..*//' >"$2/version"
}
