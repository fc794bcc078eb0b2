import { readFileSync } from 'node:fs'
import { runTool } from '../run-tool.ts'

/** Unmounts everything below a directory, the last mount first. */
export async function unmountBelow(path: string): Promise<void> {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const points = mounts.map((line) => line.split(' ')[4] ?? '')
  for (const point of points.reverse()) {
    if (point.startsWith(`${path}/`)) await runTool('umount', [point])
  }
}
