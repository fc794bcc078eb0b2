import { execFileSync } from 'node:child_process'

/** Everything that a program could find out about an entry, as the kernel shows it. */
export interface ShownEntry {
  /** from the root, as latin-1 */
  readonly path: string
  /** type, mode, owner, size, times and device */
  readonly facts: string
  /** of its content, target or nothing */
  readonly digest: string
  readonly attributes: Readonly<Record<string, string>>
  readonly inode: number
  readonly links: number
}

/** Node knows no extended attributes. */
const reader = `
import hashlib, json, os, stat, sys
root = os.fsencode(sys.argv[1])
out = []
def show(at, path):
    info = os.lstat(at)
    kind = stat.S_IFMT(info.st_mode)
    body = b''
    if kind == stat.S_IFLNK: body = os.readlink(at)
    if kind == stat.S_IFREG: body = open(at, 'rb', opener=lambda p, f: os.open(p, f | os.O_NOATIME)).read()
    size = info.st_size if kind in (stat.S_IFREG, stat.S_IFLNK) else 0
    atime = 0 if kind == stat.S_IFLNK else info.st_atime_ns # reading a link sets it
    facts = [kind, info.st_mode & 0o7777, info.st_uid, info.st_gid, size, info.st_mtime_ns, atime, info.st_rdev]
    names = os.listxattr(at, follow_symlinks=False)
    out.append({
        'path': path.decode('latin-1'), 'facts': ' '.join(map(str, facts)),
        'digest': hashlib.sha256(body).hexdigest(),
        'attributes': {n: os.getxattr(at, n, follow_symlinks=False).hex() for n in sorted(names)},
        'inode': info.st_ino, 'links': info.st_nlink if kind != stat.S_IFDIR else 0,
    })
    if kind == stat.S_IFDIR:
        fd = os.open(at, os.O_RDONLY | os.O_NOATIME)
        try: entries = sorted(os.fsencode(name) for name in os.listdir(fd))
        finally: os.close(fd)
        for name in entries: show(at + b'/' + name, path + b'/' + name)
show(root, b'')
json.dump(out, sys.stdout)
`

export function shownTree(root: string): ShownEntry[] {
  const text = execFileSync('python3', ['-c', reader, root], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  return JSON.parse(text) as ShownEntry[]
}

/** What two trees must have in common, apart from which names are the same file. */
export function plainOf(tree: readonly ShownEntry[]): unknown[] {
  return tree.map(({ path, facts, digest, attributes }) => ({ path, facts, digest, attributes }))
}

/** The names of each file that has several. */
export function linkedNames(tree: readonly ShownEntry[]): string[][] {
  const files = tree.filter(({ links }) => links > 0)
  const groups = Map.groupBy(files, ({ inode }) => inode).values()
  return [...groups]
    .map((group) => group.map(({ path }) => path))
    .filter(({ length }) => length > 1)
}
