# The private runsc, for the gvisor backend: one static program from Debian 13. Bookworm's own is
# too old to checkpoint files, and the one in Debian testing was built with a Go (1.26) on which
# this version of gVisor panics as soon as a file is read.

runsc_suite=trixie

ensure_runsc() {
  if [ -n "${FORKPOINT_GVISOR_RUNSC:-}" ] || [ -x "$runtime/runsc/runsc" ]; then return; fi
  need_root 'installing the private runsc'
  say "fetching runsc from Debian $runsc_suite (about 15 MB)"
  staged=$scratch/runsc
  mkdir -p "$staged" "$scratch/runsc-root"
  debian_download runsc $runsc_suite 'set FORKPOINT_GVISOR_RUNSC to your own runsc'
  for package in "$debian_packages"/runsc_*.deb; do
    debian_unpack "$package" "$scratch/runsc-root"
  done
  mv "$scratch/runsc-root/usr/bin/runsc" "$staged/runsc"
  quietly "$staged/runsc" --version ||
    fail_with_output 'the runsc that was fetched does not run' \
      'report this with the lines above; until then, set FORKPOINT_GVISOR_RUNSC to another runsc'
  replace_directory "$staged" "$runtime/runsc"
}
