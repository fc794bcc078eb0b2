/** The package has no types of its own; this is what the dashboard uses of it. */
declare module '@novnc/novnc' {
  // biome-ignore lint/style/noDefaultExport: the package exports it so
  export default class RFB extends EventTarget {
    constructor(
      target: HTMLElement,
      channel: WebSocket,
      options?: { readonly shared?: boolean; readonly credentials?: { readonly password: string } },
    )
    scaleViewport: boolean
    viewOnly: boolean
    background: string
    sendCredentials(credentials: { readonly password: string }): void
    disconnect(): void
  }
}
