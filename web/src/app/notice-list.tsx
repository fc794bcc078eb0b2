import { dismiss, type Notice, notifyError, useNotices } from './notices.ts'

/** What was done lately, at the lower edge. */
export function NoticeList() {
  const notices = useNotices()
  return (
    <div className="notices" role="status" aria-live="polite">
      {notices.map((notice) => (
        <NoticeView key={notice.id} notice={notice} />
      ))}
    </div>
  )
}

function NoticeView({ notice }: { notice: Notice }) {
  const { id, tone, text, remedy, undo } = notice
  const takeBack = () => {
    dismiss(id)
    undo?.().catch(notifyError)
  }
  return (
    <div className="notice" data-tone={tone}>
      <p>
        {text}
        {remedy !== undefined && <span className="faint"> {remedy}</span>}
      </p>
      {undo !== undefined && (
        <button type="button" className="button" onClick={takeBack}>
          Undo
        </button>
      )}
      <button
        type="button"
        className="button"
        data-tone="quiet"
        aria-label="Dismiss"
        onClick={() => dismiss(id)}
      >
        ×
      </button>
    </div>
  )
}
