/** A headless Chromium that talks to nobody but whoever debugs it on this port. */
export function chromiumFlags(port: number): string[] {
  return [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--user-data-dir=/root/profile',
    `--remote-debugging-port=${port}`,
  ]
}
