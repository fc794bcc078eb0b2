import { allPids } from '../../linux/lives/named-processes.ts'
import { isBelow } from '../../linux/mask/outermost.ts'
import { BackendError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { openImages } from '../images/dump-images.ts'
import { openedFiles } from '../images/regular-files.ts'
import { linksOf } from './terminals.ts'

const pipe = /^pipe:\[\d+\]$/
/** Of `open`. */
const [writeOnly, readWrite, accessMode] = [1, 2, 3]
const [typeMask, regular] = [0o170000, 0o100000]

/**
 * What copies must not share with the original: files outside its directory that it only writes, such as
 * logs, and pipes to other programs. In the words of CRIU's `--inherit-fd`.
 */
export function leadingNowhere(images: string, tree: readonly number[], workdir: string): string[] {
  return [...outerFiles(images, workdir), ...outerPipes(tree)]
}

function outerFiles(images: string, workdir: string): string[] {
  const written = openedFiles(openImages(images).files).filter(
    ({ name, flags, mode }) =>
      (flags & accessMode) !== 0 && (mode & typeMask) === regular && !isBelow(name, workdir),
  )
  const shared = written.find(({ flags }) => (flags & accessMode) === readWrite)
  if (shared !== undefined) throw changedByBoth(shared.name, workdir)
  const names = written.filter(({ flags }) => (flags & accessMode) === writeOnly)
  return [...new Set(names.map(({ name }) => name.slice(1)))]
}

function changedByBoth(name: string, workdir: string): BackendError {
  return new BackendError(
    `cannot capture the process: it has ${quote(name)} open to read and write, outside its working directory ${quote(workdir)}, so its copies would change the same file`,
    { remedy: 'attach again with --workdir of a directory that has that file in it' },
  )
}

/** Pipes that a program outside the tree has, too. */
export function outerPipes(tree: readonly number[]): string[] {
  const own = new Set(tree.flatMap(linksOf).filter((link) => pipe.test(link)))
  if (own.size === 0) return []
  const inside = new Set(tree)
  const outside = new Set(
    allPids()
      .filter((pid) => !inside.has(pid))
      .flatMap(linksOf),
  )
  return [...own].filter((name) => outside.has(name))
}
