/** Whose command this is: with sudo, the person's who typed it. */
export function callerOwner(env: NodeJS.ProcessEnv = process.env): { uid: number; gid: number } {
  const uid = Number(env.SUDO_UID)
  const gid = Number(env.SUDO_GID)
  const isSudo =
    env.SUDO_UID !== undefined && Number.isSafeInteger(uid) && Number.isSafeInteger(gid)
  if (isSudo && uid >= 0 && gid >= 0) return { uid, gid }
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
}
