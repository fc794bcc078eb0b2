# Debian packages that Forkpoint needs, installed only if their probe is missing.

# probe:package. The probe is a command, or a file if it begins with a slash.
runtime_packages='
ip:iproute2
nft:nftables
mkfs.ext4:e2fsprogs
mkfs.btrfs:btrfs-progs
losetup:mount
flock:util-linux
'
# To compile the C programs, which an npm package carries.
build_packages='
make:make
gcc:gcc
/usr/include/stdio.h:libc6-dev
'

ensure_packages() {
  install_missing $runtime_packages
  is_package "$root" || install_missing $build_packages
}

# install_missing PROBE:PACKAGE...
install_missing() {
  missing=
  for entry in "$@"; do
    is_present "${entry%%:*}" || missing="$missing ${entry#*:}"
  done
  [ -z "$missing" ] || install_packages $missing
}

# System commands are in sbin, which is not on everybody's PATH.
is_present() {
  case $1 in
    /*) [ -e "$1" ] ;;
    *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
  esac
}

# install_packages NAME...: the package index is refreshed only if it proves stale.
install_packages() {
  command -v apt-get >/dev/null || fail "missing: $*" "install them with this system's package manager"
  need_root "installing $*"
  say "installing $* (apt)"
  apt_install "$@" && return
  # Also completes what an interrupted installation left half configured.
  quietly dpkg --configure -a || :
  quietly apt_get update || fail_with_output 'apt-get update failed' 'check the network and /etc/apt/sources.list'
  apt_install "$@" || fail_with_output "could not install $*" "run: apt-get install $*"
}

apt_install() {
  quietly apt_get install -y --no-install-recommends "$@"
}

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 "$@"
}

# Only scripts/test runs this step.
ensure_test_packages() {
  without_services install_missing $(grep -v '^#' "$root/scripts/test-packages")
}

# without_services COMMAND...: does not start the servers of new packages on this machine
# (see invoke-rc.d); tests run them in cells.
without_services() {
  policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ] || [ ! -w "${policy%/*}" ]; then
    "$@"
    return
  fi
  (
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    "$@"
  ) || exit
}
