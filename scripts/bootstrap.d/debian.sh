# Packages from another release of Debian, fetched from the mirrors that the system already
# uses. The system's own apt (sources, lists, cache, hooks) is not touched.

# debian_download PACKAGE SUITE INSTEAD: fetches it and all it depends on into
# $debian_packages. INSTEAD is what a user can do without Debian.
debian_download() {
  debian_suite=$2
  instead=$3
  apt_dir=$scratch/$1-apt
  debian_packages=$apt_dir/cache/archives
  debian_private_apt "$1"
  debian_try_mirrors "$1" deb --download-only install "$1"
}

# debian_download_source PACKAGE SUITE: fetches the sources as their authors published them, without
# Debian's patches, into $debian_sources.
debian_download_source() {
  debian_suite=$2
  instead='try again later'
  apt_dir=$scratch/$1-source-apt
  debian_sources=$apt_dir/sources
  debian_private_apt "$1"
  mkdir "$debian_sources"
  # apt writes sources to the directory it is in.
  (cd "$debian_sources" && debian_try_mirrors "$1" deb-src --download-only --tar-only source "$1") || exit
}

# debian_try_mirrors PACKAGE TYPE WORDS...: calls apt-get with every candidate mirror until one has
# the suite.
debian_try_mirrors() {
  wanted=$1
  type=$2
  shift 2
  for candidate in "$apt_dir"/candidates/*; do
    # apt recognizes the format by the file's extension.
    sed "s/^Types: deb\$/Types: $type/" "$candidate" >"$apt_dir/debian.sources"
    quietly apt-get -c "$apt_dir/apt.conf" -y update || continue
    quietly apt-get -c "$apt_dir/apt.conf" -y "$@" && return
  done
  fail_with_output "could not fetch $wanted from Debian $debian_suite" \
    "check that apt-get update works (network, proxy, debian-archive-keyring), or $instead"
}

# debian_unpack FILE DIRECTORY
debian_unpack() {
  quietly dpkg -x "$1" "$2" ||
    fail_with_output "could not unpack $(basename "$1")" "check the free space of $runtime (df -h $runtime)"
}

# A separate apt configuration. It is read last (-c), so it overrides the system's
# apt.conf.d, of which only the transport settings (proxy, certificates) matter.
debian_private_apt() {
  mkdir -p "$apt_dir/state/lists/partial" "$apt_dir/cache/archives/partial" "$apt_dir/candidates" "$apt_dir/none"
  # An empty dpkg status makes apt fetch the whole dependency closure.
  : >"$apt_dir/state/status"
  cat >"$apt_dir/apt.conf" <<CONF
Dir::State "$apt_dir/state";
Dir::State::status "$apt_dir/state/status";
Dir::Cache "$apt_dir/cache";
Dir::Etc::sourcelist "$apt_dir/debian.sources";
Dir::Etc::sourceparts "$apt_dir/none";
Dir::Etc::preferences "$apt_dir/none/preferences";
Dir::Etc::preferencesparts "$apt_dir/none";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
APT::Update::Error-Mode "any";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
#clear APT::Default-Release;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
CONF
  package=$1
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  set --
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -r "$file" ] && set -- "$@" "$file"
  done
  [ $# -gt 0 ] && awk -v codename="$codename" -v suite="$debian_suite" -f "$bootstrap_d/debian-mirrors.awk" "$@" |
    awk -v dir="$apt_dir/candidates" 'BEGIN { n = 10 } /^%%$/ { n++; next } { print > (dir "/" n) }'
  [ -n "$(ls "$apt_dir/candidates")" ] || fail \
    "no Debian mirror in the apt sources to get $package from (system: ${codename:-unknown})" \
    "add a Debian mirror to /etc/apt/sources.list, or $instead"
}
