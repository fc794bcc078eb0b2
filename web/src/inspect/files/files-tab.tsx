import { type DragEvent, useState } from 'react'
import { notify, notifyError } from '../../app/notices.ts'
import type { Session } from '../../session/session.ts'
import { formatBytes } from '../../ui/format.ts'
import { EmptyState, ErrorState, LoadingState, NotAllowed } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import type { TabProps } from '../inspector.tsx'
import { FileView } from './file-view.tsx'
import { FolderList } from './folder-list.tsx'
import { joinPath } from './paths.ts'

/** The files inside: looking, downloading, and uploading by dropping. */
export function FilesTab({ session, target: { node } }: TabProps) {
  if (!session.can('exec')) return <NotAllowed scope="exec" what="Looking at files" />
  if (node.kind !== 'environment' || node.status !== 'running') {
    return (
      <EmptyState title="It does not run">
        Files can be looked at while an environment runs. Resume it first, or fork the snapshot.
      </EmptyState>
    )
  }
  return <Browser session={session} id={node.id} />
}

function Browser({ session, id }: { session: Session; id: string }) {
  const { loaded: home } = useLoaded(id, (signal) =>
    session.client.call('environment.get', { reference: id }, { signal }),
  )
  const [chosen, setFolder] = useState<string | null>(null)
  const [file, setFile] = useState<string | null>(null)
  const folder = chosen ?? (home.state === 'ready' ? home.value.workdir : null)
  if (folder === null) return <LoadingState what="files" />
  return (
    <Folder
      key={folder}
      {...{ session, id, folder, file }}
      onFolder={(path) => {
        setFile(null)
        setFolder(path)
      }}
      onFile={setFile}
    />
  )
}

interface FolderProps {
  readonly session: Session
  readonly id: string
  readonly folder: string
  readonly file: string | null
  onFolder(path: string): void
  onFile(path: string): void
}

function Folder({ session, id, folder, file, onFolder, onFile }: FolderProps) {
  const { loaded, reload } = useLoaded(`${id} ${folder}`, (signal) =>
    session.client.listFiles(id, folder, { signal }),
  )
  const [isOver, setOver] = useState(false)
  const upload = async (files: readonly File[]) => {
    try {
      for (const each of files) {
        const bytes = new Uint8Array(await each.arrayBuffer())
        await session.client.writeFile(id, joinPath(folder, each.name), bytes)
        notify({ tone: 'done', text: `Uploaded ${each.name}, ${formatBytes(each.size)}.` })
      }
    } catch (error) {
      notifyError(error)
    }
    reload()
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void upload([...event.dataTransfer.files])
  }
  return (
    <section
      className="files"
      aria-label={`Files in ${folder}`}
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <FolderBar folder={folder} onFolder={onFolder} onUpload={upload} />
      {loaded.state === 'loading' && <LoadingState what="files" />}
      {loaded.state === 'failed' && <ErrorState error={loaded.error} onRetry={reload} />}
      {loaded.state === 'ready' && (
        <FolderList entries={loaded.value} {...{ folder, file, onFolder, onFile }} />
      )}
      {file !== null && <FileView key={file} session={session} id={id} path={file} />}
    </section>
  )
}

interface FolderBarProps {
  readonly folder: string
  onFolder(path: string): void
  onUpload(files: readonly File[]): Promise<void>
}

function FolderBar({ folder, onFolder, onUpload }: FolderBarProps) {
  const parts = folder.split('/').filter(Boolean)
  return (
    <div className="files-bar">
      <nav className="crumbs" aria-label="Folder">
        <button type="button" className="crumb" onClick={() => onFolder('/')}>
          /
        </button>
        {parts.map((part, index) => {
          const path = `/${parts.slice(0, index + 1).join('/')}`
          return (
            <button key={path} type="button" className="crumb" onClick={() => onFolder(path)}>
              {part}/
            </button>
          )
        })}
      </nav>
      <label className="button">
        Upload
        <input
          type="file"
          multiple
          className="hidden-text"
          onChange={(event) => void onUpload([...(event.target.files ?? [])])}
        />
      </label>
    </div>
  )
}
