import type { Output } from 'forkpoint/client'
import { useState } from 'react'
import type { Session } from '../../session/session.ts'
import { Age } from '../../ui/age.tsx'
import { formatBytes, formatMs } from '../../ui/format.ts'
import { ErrorState, LoadingState } from '../../ui/states.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { Facts, Section } from './facts.tsx'
import { MetadataEditor } from './metadata-editor.tsx'
import { TimingBar } from './timing-bar.tsx'

type SnapshotInfo = Output<'snapshot.get'>

interface SnapshotFactsProps {
  readonly info: SnapshotInfo
  readonly session: Session
  onChanged(): Promise<void>
}

export function SnapshotFacts({ info, session, onChanged }: SnapshotFactsProps) {
  const { timing, memory, failure } = info
  return (
    <>
      <Section title="Snapshot">
        {info.message !== '' && <p className="facts-message">{info.message}</p>}
        <Facts
          facts={{
            holds: info.captured.join(', '),
            taken: <Age at={info.createdAt} suffix=" ago" />,
            'on disk': info.durable ? 'yes: it survives a power cut' : 'not yet',
            restores: proofWords(info),
            'while it was taken':
              info.original === 'kept' ? 'nothing inside could notice' : 'processes were replaced',
            backend: info.backend,
          }}
        />
        {failure !== undefined && (
          <p role="alert" className="dialog-failure">
            {failure.message} {failure.remedy}
          </p>
        )}
      </Section>
      <Section
        title={`Time: ${formatMs(timing.totalMs)}, of which paused ${formatMs(timing.pauseMs)}`}
      >
        <TimingBar phases={timing.phases} totalMs={timing.totalMs} />
      </Section>
      <Section title="Size">
        <Sizes info={info} session={session} />
        {memory !== undefined && (
          <p className="small faint">
            Each fork maps {formatBytes(memory.sharedBytes)} of its memory from this snapshot, and
            copies {formatBytes(memory.copiedBytes)}.
          </p>
        )}
      </Section>
      <MetadataEditor info={info} session={session} onChanged={onChanged} />
    </>
  )
}

function proofWords({ proof }: SnapshotInfo): string {
  if (proof === 'proven') return 'proven: something was made from it'
  return proof === 'failed' ? 'no' : 'not tried yet'
}

/** What it holds itself; what it has in common with others is measured for whoever asks, because it takes long. */
function Sizes({ info, session }: Pick<SnapshotFactsProps, 'info' | 'session'>) {
  const [isAsked, setAsked] = useState(false)
  const { filesBytes, imagesBytes } = info.sizes
  const isRestricted = Object.keys(session.principal.labels).length > 0
  return (
    <>
      <Facts
        facts={{
          files: filesBytes === null ? 'not counted yet' : formatBytes(filesBytes),
          processes: formatBytes(imagesBytes),
        }}
      />
      {isAsked && <SharedSizes info={info} session={session} />}
      {!isAsked && !isRestricted && (
        <button type="button" className="button" onClick={() => setAsked(true)}>
          Measure what it shares
        </button>
      )}
    </>
  )
}

function SharedSizes({ info, session }: Pick<SnapshotFactsProps, 'info' | 'session'>) {
  const { loaded, reload } = useLoaded(info.id, async (signal) => {
    const { snapshots } = await session.client.call('usage', {}, { signal })
    return snapshots.find(({ id }) => id === info.id)
  })
  if (loaded.state === 'loading') return <LoadingState lines={3} what="what it shares" />
  if (loaded.state === 'failed') return <ErrorState error={loaded.error} onRetry={reload} />
  const bytes = (value: number | null | undefined) =>
    value === null || value === undefined ? null : formatBytes(value)
  return (
    <Facts
      facts={{
        own: bytes(loaded.value?.ownBytes),
        shared: bytes(loaded.value?.sharedBytes),
        'freed if removed': bytes(loaded.value?.uniqueBytes),
      }}
    />
  )
}
