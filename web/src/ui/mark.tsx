/** The sign of Forkpoint: a stem, and what grew from it. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 32 32"
      fill="none"
      stroke="var(--live)"
      strokeWidth="3"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M10 28V4M10 20c0-6 12-4 12-11" />
      <circle cx="10" cy="20" r="3.2" fill="var(--live)" stroke="none" />
      <circle cx="22" cy="7" r="4" fill="var(--paper)" />
    </svg>
  )
}
