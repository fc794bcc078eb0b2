// How long the soak tests take: short in `npm test`, long in `npm run test:soak`.

/** the agent's loop */
export const loopSeconds = Number(process.env.FORKPOINT_SOAK_SECONDS ?? 20)

/** snapshots of one environment in a row */
export const snapshotsInARow = Number(process.env.FORKPOINT_SOAK_SNAPSHOTS ?? 60)
