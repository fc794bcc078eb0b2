# The private CRIU: a recent one from Debian testing with its own libraries and
# loader, because the system's is usually too old for the running kernel.

criu_suite=forky

ensure_criu() {
  if [ -n "${FORKPOINT_CRIU:-}" ]; then return; fi
  # exec.json holds absolute paths: a runtime directory that was moved is rebuilt.
  if grep -qsF "\"$runtime/criu/" "$runtime/criu/exec.json"; then return; fi
  need_root 'installing the private CRIU'
  say "fetching CRIU from Debian $criu_suite (about 30 MB)"
  staged=$scratch/criu
  debian_download criu $criu_suite 'set FORKPOINT_CRIU to your own CRIU, 4.2 or newer'
  criu_unpack
  criu_verify
  replace_directory "$staged" "$runtime/criu"
}

criu_unpack() {
  mkdir -p "$staged/root" "$staged/bin"
  for package in "$debian_packages"/*.deb; do
    debian_unpack "$package" "$staged/root"
  done
  # Documentation and locales are half of the unpacked size.
  rm -rf "$staged/root/usr/share" "$staged/root/usr/include"
}

# Writes launchers for a CRIU in the directory $1: exec.json for programs (no shell, no
# fork), bin/criu for people.
criu_write_launchers() {
  place=$1
  loader=$place/root/$(cd "$staged/root" && find * -type f -name 'ld-linux-*.so.*' | head -n 1)
  program=$place/root/$(cd "$staged/root" && find * -type f -path '*bin/criu' | head -n 1)
  libraries=$(cd "$staged/root" && find * -type f -name 'lib*.so.*' -printf '%h\n' | sort -u |
    sed "s|^|$place/root/|" | paste -sd:)
  printf '{"argv":["%s","--library-path","%s","%s"]}\n' "$loader" "$libraries" "$program" >"$staged/exec.json"
  cat >"$staged/bin/criu" <<SH
#!/bin/sh
# CRIU with its own loader and libraries. Programs read ../exec.json instead.
exec '$loader' --library-path '$libraries' '$program' "\$@"
SH
  chmod 755 "$staged/bin/criu"
}

criu_verify() {
  criu_write_launchers "$staged"
  quietly "$staged/bin/criu" --version && grep -q 'Version: 4\.' "$scratch/output" ||
    fail_with_output 'the CRIU that was fetched does not run' \
      'report this with the lines above; until then, set FORKPOINT_CRIU to another CRIU'
  criu_write_launchers "$runtime/criu"
}
