# The private CRIU: a recent one from Debian testing with its own libraries and
# loader, because the system's is usually too old for the running kernel.
# Nothing of the system's apt (sources, lists, cache, hooks) is touched.

criu_suite=forky

ensure_criu() {
  if [ -n "${FORKPOINT_CRIU:-}" ]; then return; fi
  # exec.json holds absolute paths: a runtime directory that was moved is rebuilt.
  if grep -qsF "\"$runtime/criu/" "$runtime/criu/exec.json"; then return; fi
  need_root 'installing the private CRIU'
  say "fetching CRIU from Debian $criu_suite (about 30 MB)"
  apt_dir=$scratch/criu-apt
  staged=$scratch/criu
  criu_private_apt
  criu_download
  criu_unpack
  criu_verify
  replace_directory "$staged" "$runtime/criu"
}

# A complete apt world of its own. Read last (-c), so that it wins over apt.conf.d
# of the system, of which only the transport settings (proxy, certificates) matter.
criu_private_apt() {
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
  codename=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
  set --
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -r "$file" ] && set -- "$@" "$file"
  done
  [ $# -gt 0 ] && awk -v codename="$codename" -v suite="$criu_suite" -f "$bootstrap_d/debian-mirrors.awk" "$@" |
    awk -v dir="$apt_dir/candidates" 'BEGIN { n = 10 } /^%%$/ { n++; next } { print > (dir "/" n) }'
  [ -n "$(ls "$apt_dir/candidates")" ] || fail \
    "no Debian mirror in the apt sources to take CRIU from (system: ${codename:-unknown})" \
    'add a Debian mirror to /etc/apt/sources.list, or set FORKPOINT_CRIU to a CRIU 4.2 or newer of your own'
}

# Tries every candidate mirror until one has the suite.
criu_download() {
  for candidate in "$apt_dir"/candidates/*; do
    # apt tells the formats apart by the file's ending.
    cp "$candidate" "$apt_dir/debian.sources"
    quietly apt-get -c "$apt_dir/apt.conf" -y update || continue
    quietly apt-get -c "$apt_dir/apt.conf" -y --download-only install criu && return
  done
  fail_with_output "could not fetch CRIU from Debian $criu_suite" \
    'check that apt-get update works (network, proxy, debian-archive-keyring), or set FORKPOINT_CRIU to a CRIU 4.2 or newer'
}

criu_unpack() {
  mkdir -p "$staged/root" "$staged/bin"
  for package in "$apt_dir"/cache/archives/*.deb; do
    quietly dpkg -x "$package" "$staged/root" ||
      fail_with_output "could not unpack $(basename "$package")" "check the free space of $runtime (df -h $runtime)"
  done
  # Documentation and locales are half of the unpacked size.
  rm -rf "$staged/root/usr/share" "$staged/root/usr/include"
}

# Writes how to start CRIU, for $1 as the directory that it will live in:
# exec.json for programs (no shell, no fork), bin/criu for people.
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
      'report this with the lines above; FORKPOINT_CRIU can point to another CRIU meanwhile'
  criu_write_launchers "$runtime/criu"
}
