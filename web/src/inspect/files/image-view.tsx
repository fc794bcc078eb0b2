import { useEffect, useState } from 'react'
import type { Session } from '../../session/session.ts'
import { ErrorState } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'

/** SVG is not among them: it is text, and shown as such. */
const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
}

function typeOf(path: string): string | undefined {
  return types[path.split('.').at(-1)?.toLowerCase() ?? '']
}

export function isImage(path: string): boolean {
  return typeOf(path) !== undefined
}

interface ImageViewProps {
  readonly session: Session
  readonly id: string
  readonly path: string
}

/** A picture inside, as it is now. */
export function ImageView({ session, id, path }: ImageViewProps) {
  const { loaded, reload } = useLoaded(`${id} ${path}`, (signal) =>
    session.client.readFile(id, path, { signal }),
  )
  const [url, setUrl] = useState<string | null>(null)
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    if (loaded.state !== 'ready') return
    const made = URL.createObjectURL(new Blob([loaded.value], { type: typeOf(path) ?? '' }))
    setUrl(made)
    setBroken(false)
    return () => URL.revokeObjectURL(made)
  }, [loaded, path])
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  if (url === null) return null
  if (isBroken)
    return <p className="faint">Its name says that it is a picture, but its bytes do not.</p>
  return <img className="image-view" src={url} alt={path} onError={() => setBroken(true)} />
}
