# What is built inside the checkout: node_modules, native/build and dist.

ensure_dependencies() {
  # npm writes this file last, so it is missing after an interrupted installation.
  installed=$root/node_modules/.package-lock.json
  if [ -f "$installed" ] && ! [ "$installed" -ot "$root/package-lock.json" ]; then return; fi
  need_npm 'install dependencies'
  say 'installing npm dependencies'
  quietly run_npm ci --prefix "$root" ||
    fail_with_output 'npm ci failed' "check the network and npm's registry setting, then run: npm ci"
  # npm leaves the file alone if only the order of entries changed.
  touch "$installed"
}

ensure_native() {
  if make -s -q -C "$root/native" >/dev/null 2>&1; then return; fi
  say 'compiling the C programs'
  quietly make -s -C "$root/native" ||
    fail_with_output 'compiling the C programs failed' "see: make -C $root/native"
}

ensure_dist() {
  if is_fresh "$root" "$runtime"; then return; fi
  say 'building the command line'
  quietly "$runtime/node/bin/node" "$root/scripts/build.js" ||
    fail_with_output 'building dist failed' "see: cd $root && npm run build"
  # Dated at the start of this run, so that a change during the build triggers another one.
  touch -r "$scratch/started" "$root/dist/.fresh.new"
  mv "$root/dist/.fresh.new" "$root/dist/.fresh"
}
