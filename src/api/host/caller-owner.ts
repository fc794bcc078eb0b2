/** Who runs this command; with sudo, the person who typed it. */
export function callerOwner(env: NodeJS.ProcessEnv = process.env): { uid: number; gid: number } {
  const [euid, egid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0]
  const uid = Number(env.SUDO_UID)
  const gid = Number(env.SUDO_GID)
  const isSudo =
    env.SUDO_UID !== undefined && Number.isSafeInteger(uid) && Number.isSafeInteger(gid)
  // Only root can give files away.
  if (euid === 0 && isSudo && uid >= 0 && gid >= 0) return { uid, gid }
  return { uid: euid, gid: egid }
}
