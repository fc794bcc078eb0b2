import type { Output } from 'forkpoint/client'
import type { Forest } from '../../forest/forest.ts'
import { Age } from '../../ui/age.tsx'
import { formatBytes, formatTime } from '../../ui/format.ts'
import { Facts, Section } from './facts.tsx'
import { NodeLink } from './node-link.tsx'

type EnvironmentInfo = Output<'environment.get'>

export function EnvironmentFacts({ info, forest }: { info: EnvironmentInfo; forest: Forest }) {
  const { policy, limits, net } = info
  return (
    <Section title="Environment">
      <Facts
        facts={{
          'continues from': info.head && <NodeLink id={info.head} forest={forest} />,
          'made from': sourceWords(info.source),
          created: <Age at={info.createdAt} suffix=" ago" />,
          backend: info.backend,
          'host name': <code>{info.hostname}</code>,
          directory: <code>{info.workdir}</code>,
          network: networkWords(net),
          limits: limitWords(limits),
          expires: policy.expiresAt !== null && formatTime(policy.expiresAt),
          'when idle':
            policy.idle &&
            `${policy.idle.action} after ${Math.round(policy.idle.afterMs / 1000)} s`,
          program: info.command && <code>{info.command.join(' ')}</code>,
        }}
      />
    </Section>
  )
}

function networkWords({
  mode,
  allow,
  denyOut = [],
  allowOut = [],
}: EnvironmentInfo['net']): string {
  const also = allow.length === 0 ? '' : `, also ${allow.join(', ')}`
  const not = denyOut.length === 0 ? '' : `, without ${denyOut.join(', ')}`
  const except = allowOut.length === 0 ? '' : ` except ${allowOut.join(', ')}`
  return mode + also + not + except
}

function sourceWords(source: EnvironmentInfo['source']): string {
  const [, value] = Object.entries(source).find(([key]) => key !== 'kind') ?? []
  return value === undefined ? source.kind : `${source.kind}: ${value}`
}

function limitWords(limits: EnvironmentInfo['limits']): string {
  const { memoryBytes, cpus, pids, diskBytes } = limits
  const parts = [
    memoryBytes !== undefined && `${formatBytes(memoryBytes)} of memory`,
    cpus !== undefined && `${cpus} CPUs`,
    pids !== undefined && `${pids} processes`,
    diskBytes !== undefined && `${formatBytes(diskBytes)} on disk`,
  ]
  return parts.filter(Boolean).join(', ')
}
