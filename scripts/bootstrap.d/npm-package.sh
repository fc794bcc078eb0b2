# What only the npm package needs: the types of the API, and the C programs for both kinds of machine.

# probe:package, as in packages.sh; on an arm64 machine, the other kind is x86_64.
cross_packages_x86_64='
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu
/usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
qemu-aarch64-static:qemu-user-static
'
cross_packages_aarch64='
x86_64-linux-gnu-gcc:gcc-x86-64-linux-gnu
/usr/x86_64-linux-gnu/include/stdio.h:libc6-dev-amd64-cross
qemu-x86_64-static:qemu-user-static
'

# The compiler alone, about 25 MB: a project that installs a checkout did not ask for hundreds of them. It is one of the
# private tools, because npm leaves out what is only for tests.
ensure_compiler() {
  if [ -d "$root/node_modules/typescript" ]; then return; fi
  version=$(sed -n '/^    "node_modules\/typescript": {/,/"version"/s/.*"version": "\(.*\)".*/\1/p' "$root/package-lock.json")
  if grep -qsF "\"version\": \"$version\"" "$runtime/typescript/package.json"; then return; fi
  need_npm 'fetch TypeScript'
  say 'fetching TypeScript, for the types of the API'
  mkdir -p "$scratch/typescript-pack" "$scratch/typescript"
  (cd "$scratch/typescript-pack" && quietly run_npm pack "typescript@$version") ||
    fail_with_output 'could not fetch TypeScript' "check the network and npm's registry setting, then try again"
  quietly tar -xzf "$scratch"/typescript-pack/*.tgz -C "$scratch/typescript" --strip-components=1 ||
    fail_with_output 'could not unpack TypeScript' "check the free space of $runtime (df -h $runtime)"
  replace_directory "$scratch/typescript" "$runtime/typescript"
}

# With the dependencies of the tests, also those of the integrations: they need their frameworks.
ensure_types() {
  if types_are_fresh; then return; fi
  say 'writing the types of the API'
  quietly "$runtime/node/bin/node" "$root/scripts/build-types.js" "$runtime/typescript/bin/tsc" ||
    fail_with_output 'writing the types failed' "see: cd $root && npm run build:types"
  touch -r "$scratch/started" "$root/dist/types/.fresh"
}

types_are_fresh() {
  [ -f "$root/dist/types/.fresh" ] &&
    [ -z "$(find "$root/src" "$root/package-lock.json" "$root"/tsconfig*.json "$root/scripts/build-types.js" \
      -newer "$root/dist/types/.fresh" -print -quit)" ]
}

ensure_packaged() {
  # What a process of an earlier build may still load is not for others.
  find "$root/dist/chunks" -type f ! -newer "$root/dist/.fresh" -delete
  if make -s -q -C "$root/native" packaged >/dev/null 2>&1; then return; fi
  case $(uname -m) in
    x86_64) install_missing $cross_packages_x86_64 ;;
    aarch64) install_missing $cross_packages_aarch64 ;;
  esac
  say 'compiling the C programs for x86_64 and arm64'
  quietly make -s -j2 -C "$root/native" packaged ||
    fail_with_output 'compiling the C programs failed' "see: make -C $root/native packaged"
}
