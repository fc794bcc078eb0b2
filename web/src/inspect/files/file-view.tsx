import { notifyError } from '../../app/notices.ts'
import type { Session } from '../../session/session.ts'
import { ErrorState, LoadingState } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { ImageView, isImage } from './image-view.tsx'

interface FileViewProps {
  readonly session: Session
  readonly id: string
  readonly path: string
}

/** Of a long file, only the beginning is shown. */
const shownBytes = 256 * 1024

/** A file inside: its text or picture, and a way to download it. */
export function FileView(props: FileViewProps) {
  const { session, id, path } = props
  return (
    <section className="file-view" aria-label={path}>
      <header className="file-diff-head">
        <code className="clip">{path}</code>
        <button
          type="button"
          className="button"
          onClick={() => download(session, id, path).catch(notifyError)}
        >
          Download
        </button>
      </header>
      {isImage(path) ? <ImageView {...props} /> : <TextView {...props} />}
    </section>
  )
}

function TextView({ session, id, path }: FileViewProps) {
  const { loaded, reload } = useLoaded(`${id} ${path}`, (signal) =>
    session.client.readFile(id, path, { signal, lengthBytes: shownBytes }),
  )
  if (loaded.state === 'loading') return <LoadingState what={path} />
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  const bytes = loaded.value
  if (bytes.includes(0)) return <p className="faint">A binary file.</p>
  return (
    <>
      <pre className="file-text">{new TextDecoder().decode(bytes)}</pre>
      {bytes.length === shownBytes && (
        <p className="faint">This is its beginning; download it for the rest.</p>
      )}
    </>
  )
}

/** The token is a header, so a plain link could not do it. */
async function download(session: Session, id: string, path: string): Promise<void> {
  const bytes = await session.client.readFile(id, path)
  const url = URL.createObjectURL(new Blob([bytes]))
  const link = document.createElement('a')
  link.href = url
  link.download = path.split('/').at(-1) ?? 'file'
  link.click()
  URL.revokeObjectURL(url)
}
