/** The path of a port inside, for a request whose host name is PORT-ID.DOMAIN; null for any other. */
export function portUrl(
  domain: string | undefined,
  host: string | undefined,
  url: string,
): string | null {
  if (domain === undefined || host === undefined) return null
  const [name = ''] = host.toLowerCase().split(':', 1)
  const suffix = `.${domain.toLowerCase()}`
  if (!name.endsWith(suffix)) return null
  const [, port, id] = /^(\d{1,5})-(e[0-9a-z]+)$/.exec(name.slice(0, -suffix.length)) ?? []
  return port === undefined ? null : `/v1/environments/${id}/ports/${port}${url}`
}
