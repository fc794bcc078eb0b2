import * as z from 'zod'
import type { Environment } from '../../api/handles/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { Clip } from '../output/clip.ts'
import { tool } from '../tool.ts'
import * as f from './fields.ts'

const defaultMatches = 100
const mostMatches = 1000
const mostSearchedBytes = 1024 ** 2
const searchMs = 60_000
const longestMatch = 500
const longestComplaint = 1000

export const searchFiles = tool({
  name: 'search_files',
  title: 'Search files',
  description:
    'Finds lines that match an extended regular expression (grep -E) in the text files below a directory of an environment.',
  effect: 'reads',
  input: {
    environment: f.environment,
    pattern: z.string().min(1).max(4096),
    path: f.path.optional().describe('default: the working directory of the environment'),
    glob: z.string().min(1).max(255).optional().describe('only files with such names: *.ts'),
    ignoreCase: z.boolean().default(false),
    limit: z.int().min(1).max(mostMatches).default(defaultMatches),
  },
  output: {
    matches: z.array(z.object({ path: z.string(), line: z.number(), text: z.string() })),
    truncated: z.boolean().describe('whether there are more'),
  },
  run: async ({ environment, pattern, path, glob, ignoreCase, limit }, call) => {
    const found = await call.workspace.environment(environment)
    const words = ['grep', '-rnIEZ', ...(ignoreCase ? ['-i'] : [])]
    if (glob !== undefined) words.push(`--include=${glob}`)
    words.push('-e', pattern, '--', path ?? found.lastInfo.workdir)
    const { text, isCut, exitCode, complaint } = await searched(found, words, call.signal)
    // grep also exits with 2 if it could not read one file of many.
    if ((exitCode ?? 0) > 1 && text === '') {
      const remedy = 'look at the pattern and the path'
      throw new InvalidInputError(`grep failed: ${complaint.trim()}`, { remedy })
    }
    const all = matchesOf(text)
    return { matches: all.slice(0, limit), truncated: isCut || all.length > limit }
  },
})

/** What grep prints, up to a limit: then it is ended. */
async function searched(environment: Environment, words: readonly string[], signal: AbortSignal) {
  const grep = await environment.spawn(words, { mode: 'process', timeoutMs: searchMs })
  const end = () => void grep.signal('SIGKILL').catch(() => grep.detach())
  signal.addEventListener('abort', end)
  const complaint = new Clip(longestComplaint)
  const read = async () => {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of grep.stdout) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes <= mostSearchedBytes) continue
      await grep.signal('SIGKILL')
      grep.stdout.discard()
      break
    }
    return { text: Buffer.concat(chunks).toString('utf8'), isCut: bytes > mostSearchedBytes }
  }
  const complain = async () => {
    for await (const chunk of grep.stderr) complaint.push(chunk)
  }
  try {
    const [found, ended] = await Promise.all([read(), grep.wait(), complain()])
    const isCut = found.isCut || ended.timedOut
    return { ...found, isCut, exitCode: ended.exitCode, complaint: complaint.text(() => '…') }
  } finally {
    signal.removeEventListener('abort', end)
  }
}

function matchesOf(text: string): { path: string; line: number; text: string }[] {
  return text.split('\n').flatMap((row) => {
    const [, path, line, found] = /^([^\0]*)\0(\d+):(.*)$/s.exec(row) ?? []
    if (path === undefined || found === undefined) return []
    return [{ path, line: Number(line), text: found.slice(0, longestMatch) }]
  })
}
