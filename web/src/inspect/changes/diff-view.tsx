import { type Hunk, type PatchLine, sideBySide } from './patch.ts'

interface DiffViewProps {
  readonly hunks: readonly Hunk[]
  readonly form: 'unified' | 'side by side'
}

export function DiffView({ hunks, form }: DiffViewProps) {
  if (hunks.length === 0) return <p className="faint">No line of text changed.</p>
  return (
    <div className="diff" data-form={form}>
      {hunks.map((hunk) => (
        <table key={hunkKey(hunk)} className="diff-hunk">
          <caption className="hidden-text">Lines {hunkKey(hunk)}</caption>
          <tbody>{form === 'unified' ? <Unified hunk={hunk} /> : <Pairs hunk={hunk} />}</tbody>
        </table>
      ))}
    </div>
  )
}

function hunkKey({ lines: [first] }: Hunk): string {
  return `${first?.before ?? ''}-${first?.after ?? ''}`
}

const signs = { same: ' ', gone: '−', new: '+' } as const

function Unified({ hunk }: { hunk: Hunk }) {
  return hunk.lines.map((line) => (
    <tr key={`${line.before}-${line.after}`} data-kind={line.kind}>
      <td className="diff-number">{line.before}</td>
      <td className="diff-number">{line.after}</td>
      <td className="diff-text">
        <span className="diff-sign">{signs[line.kind]}</span>
        {line.text}
      </td>
    </tr>
  ))
}

function Pairs({ hunk }: { hunk: Hunk }) {
  return sideBySide(hunk).map(({ left, right }) => (
    <tr key={`${left?.before}-${right?.after}`}>
      <Side line={left} number={left?.before} />
      <Side line={right} number={right?.after} />
    </tr>
  ))
}

function Side({ line, number }: { line: PatchLine | null; number: number | null | undefined }) {
  return (
    <>
      <td className="diff-number">{number}</td>
      <td className="diff-text" data-kind={line?.kind ?? 'none'}>
        {line?.text}
      </td>
    </>
  )
}
