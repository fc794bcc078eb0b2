import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import fc from 'fast-check'
import { textToBytes } from '../../../src/agent/files/byte-text.ts'

/** One thing that a program might do to a file; what fails is skipped. */
export type Work =
  | { readonly do: 'write' | 'append'; readonly path: string; readonly text: string }
  | { readonly do: 'mkdir' | 'remove' | 'replace-directory' | 'touch'; readonly path: string }
  | { readonly do: 'rename' | 'link' | 'move'; readonly path: string; readonly to: string }
  | { readonly do: 'symlink'; readonly path: string; readonly target: string }
  | { readonly do: 'chmod'; readonly path: string; readonly mode: number }
  | { readonly do: 'chown'; readonly path: string; readonly uid: number }

/** Few names, so that they collide; one of them trips up shells and decoders. */
const names = ['a', 'b', 'ä \n\udcff']
const deepest = 3
const path = fc
  .array(fc.constantFrom(...names), { minLength: 1, maxLength: deepest })
  .map((parts) => parts.join('/'))
const text = fc.constantFrom('', 'one\n', 'two\n', 'six\n', 'longer text\n', 'x'.repeat(40))

const work: fc.Arbitrary<Work> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('write' as const), path, text }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('append' as const), path, text }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mkdir' as const), path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('replace-directory' as const), path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('touch' as const), path }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('rename' as const), path, to: path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), path, to: path }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('link' as const), path, to: path }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('symlink' as const), path, target: path }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('chmod' as const),
      path,
      mode: fc.constantFrom(0o600, 0o644, 0o755, 0o4755),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('chown' as const), path, uid: fc.nat(3) }),
  },
)

/** A tree to start with, half full: work on nothing tests nothing. */
export const tree: fc.Arbitrary<Work[]> = fc
  .tuple(
    ...allPaths().map((at) =>
      fc.oneof(
        { weight: 2, arbitrary: fc.constant<Work>({ do: 'mkdir', path: at }) },
        {
          weight: 1,
          arbitrary: text.map((content): Work => ({ do: 'write', path: at, text: content })),
        },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
    ),
  )
  .map((all) => all.filter((each) => each !== null))

function allPaths(): string[] {
  const found: string[] = []
  const add = (above: string, depth: number) => {
    for (const name of names) {
      found.push(above + name)
      if (depth < deepest) add(`${above}${name}/`, depth + 1)
    }
  }
  add('', 1)
  return found
}

export const works = (maxLength: number): fc.Arbitrary<Work[]> => fc.array(work, { maxLength })

export function doAll(root: string, all: readonly Work[]): void {
  for (const each of all) {
    try {
      doOne(root, each)
    } catch {
      // Half of the things that random programs try fail, as they do for others.
    }
  }
}

function doOne(root: string, each: Work): void {
  const at = (path: string) => Buffer.concat([Buffer.from(`${root}/`), textToBytes(path)])
  const place = at(each.path)
  switch (each.do) {
    case 'write':
      writeFileSync(place, each.text)
      break
    case 'append':
      writeFileSync(place, each.text, { flag: 'a' })
      break
    case 'mkdir':
      mkdirSync(place)
      break
    case 'remove':
      removeTree(place)
      break
    case 'replace-directory':
      removeTree(place)
      mkdirSync(place)
      break
    case 'touch':
      utimesSync(place, 1_000_000_000, 1_000_000_000)
      break
    case 'rename':
      renameSync(place, at(each.to))
      break
    case 'move':
      // Copies a directory where the overlay cannot rename it.
      spawnSync('mv', ['-fT', '--', place.toString(), at(each.to).toString()])
      break
    case 'link':
      linkSync(place, at(each.to))
      break
    case 'symlink':
      symlinkSync(textToBytes(each.target), place)
      break
    case 'chmod':
      chmodSync(place, each.mode)
      break
    case 'chown':
      lchownSync(place, each.uid, each.uid)
      break
  }
}

/** `rmSync` takes no bytes. */
function removeTree(place: Buffer): void {
  if (!lstatSync(place).isDirectory()) {
    unlinkSync(place)
    return
  }
  for (const name of readdirSync(place, 'buffer')) {
    removeTree(Buffer.concat([place, Buffer.from('/'), name]))
  }
  rmdirSync(place)
}
