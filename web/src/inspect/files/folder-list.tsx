import type { FileEntry } from 'forkpoint/client'
import { Age } from '../../ui/age.tsx'
import { formatBytes } from '../../ui/format.ts'
import { EmptyState } from '../../ui/states.tsx'
import { joinPath } from './paths.ts'

interface FolderListProps {
  readonly entries: readonly FileEntry[]
  readonly folder: string
  readonly file: string | null
  onFolder(path: string): void
  onFile(path: string): void
}

const mostShown = 2000

/** Directories first. */
export function FolderList({ entries, folder, file, onFolder, onFile }: FolderListProps) {
  if (entries.length === 0) {
    return <EmptyState title="An empty folder">Drop files here to upload them.</EmptyState>
  }
  const sorted = entries.toSorted((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
  return (
    <div className="folder-scroll">
      <table className="folder">
        <thead className="hidden-text">
          <tr>
            <th>Name</th>
            <th>Size</th>
            <th>Mode</th>
            <th>Changed</th>
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, mostShown).map((entry) => {
            const path = joinPath(folder, entry.name)
            const isFolder = entry.type === 'directory'
            return (
              <tr key={entry.name} data-on={path === file}>
                <td className="folder-name">
                  <button
                    type="button"
                    className="crumb clip"
                    onClick={() => (isFolder ? onFolder(path) : onFile(path))}
                  >
                    {entry.name}
                    {isFolder && '/'}
                  </button>
                  {entry.target !== null && <span className="faint clip"> → {entry.target}</span>}
                </td>
                <td className="number">{isFolder ? '' : formatBytes(entry.sizeBytes)}</td>
                <td className="mono faint">{entry.mode.toString(8)}</td>
                <td className="faint">
                  <Age at={Number(entry.mtimeNs) / 1e6} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      {entries.length > mostShown && <p className="faint">and {entries.length - mostShown} more</p>}
    </div>
  )
}

function rank({ type }: FileEntry): number {
  return type === 'directory' ? 0 : 1
}
