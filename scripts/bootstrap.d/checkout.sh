# What is built inside the checkout: node_modules, native/build and dist. An npm package has all of it.

# What the program and its build need. Packages for the tests stay if they are there.
ensure_dependencies() {
  if is_package "$root" || dependencies_are_fresh; then return; fi
  # Whoever has run the tests here will run them again.
  if [ -d "$root/node_modules/vitest" ]; then
    ensure_test_dependencies
  else
    install_dependencies 'installing npm dependencies' --omit=dev
  fi
}

# Also what the tests and checks need: several hundred megabytes, most of them agent frameworks.
ensure_test_dependencies() {
  if dependencies_are_fresh && [ -d "$root/node_modules/vitest" ]; then return; fi
  install_dependencies 'installing npm dependencies, with those of the tests'
}

# npm writes this file last, so it is missing after an interrupted installation.
installed=$root/node_modules/.package-lock.json

dependencies_are_fresh() {
  [ -f "$installed" ] && ! [ "$installed" -ot "$root/package-lock.json" ]
}

# install_dependencies WORDS [OPTION...]
install_dependencies() {
  need_npm 'install dependencies'
  say "$1"
  shift
  quietly run_npm ci --prefix "$root" "$@" ||
    fail_with_output 'npm ci failed' "check the network and npm's registry setting, then run: npm ci"
  # npm leaves the file alone if only the order of entries changed.
  touch "$installed"
}

ensure_native() {
  if is_package "$root" || make -s -q -C "$root/native" >/dev/null 2>&1; then return; fi
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

# The dashboard. Its packages (46 MB) are apart from those of the program, in web/node_modules: only who opens it,
# tests or packs needs them.
ensure_web() {
  if is_package "$root" || web_is_fresh; then return; fi
  need_npm 'install what the dashboard is built with'
  say 'building the dashboard'
  web_installed=$root/web/node_modules/.package-lock.json
  if [ ! -f "$web_installed" ] || [ "$web_installed" -ot "$root/web/package-lock.json" ]; then
    quietly run_npm ci --prefix "$root/web" ||
      fail_with_output 'npm ci of the dashboard failed' "check the network and npm's registry setting, then run: npm ci --prefix web"
    touch "$web_installed"
  fi
  quietly "$runtime/node/bin/node" "$root/scripts/build-web.js" ||
    fail_with_output 'building the dashboard failed' "see: cd $root && npm run build:web"
  touch -r "$scratch/started" "$root/dist/web/.fresh"
}

# It is bundled with the client and the contract.
web_is_fresh() {
  [ -f "$root/dist/web/.fresh" ] &&
    [ -z "$(find "$root/web" "$root/src/api" "$root/src/client" "$root/src/model" "$root/scripts/build-web.js" \
      -path "$root/web/node_modules" -prune -o ! -path "$root/web" -newer "$root/dist/web/.fresh" -print -quit)" ]
}
