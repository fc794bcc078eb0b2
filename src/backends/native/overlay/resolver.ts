import { readFile } from 'node:fs/promises'

// In the second, systemd-resolved lists the servers behind its own, which listens on loopback.
const places = ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']

/**
 * The text of /etc/resolv.conf in an environment. The host's own file will not do: it may
 * name a server on loopback, which is different inside, or be a link into /run.
 */
export async function resolverOfHost(): Promise<string | null> {
  // A file that is missing or unreadable names no server.
  const texts = await Promise.all(places.map((path) => readFile(path, 'utf8').catch(() => '')))
  return texts.map(withoutLoopback).find(hasServer) ?? null
}

/** The lines of a resolv.conf except comments and servers on loopback. */
export function withoutLoopback(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  const kept = lines.filter((line) => !/^($|[#;]|nameserver\s+(127\.|::1$))/.test(line))
  return `${kept.join('\n')}\n`
}

function hasServer(text: string): boolean {
  return /^nameserver\s/m.test(text)
}
