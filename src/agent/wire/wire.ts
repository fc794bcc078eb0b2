/** Numbers of the agent protocol, which docs/agent-protocol.md describes. */

export const PROTOCOL_VERSION = 1

export const HEADER_BYTES = 12
export const MAX_PAYLOAD_BYTES = 131_072
/** The largest size of the fields of one OPEN, over any number of frames. */
export const MAX_OPEN_BYTES = 4_194_304
/** Header flag of OPEN: its fields continue in the stream's next OPEN. */
export const OPEN_CONTINUES = 1
export const MAX_RECORD_BYTES = 65_536
/** Credit of every channel of every stream when it opens. */
export const INITIAL_WINDOW_BYTES = 262_144
/** The largest replay of a terminal. */
export const MAX_REPLAY_BYTES = 1_048_576

/** What agents can do that the first ones could not, as bits of their hello. */
export const Feature = { trees: 1, xattrs: 2 } as const

export const FrameType = {
  hello: 1,
  open: 2,
  data: 3,
  window: 4,
  end: 5,
  result: 6,
  error: 7,
  cancel: 8,
  event: 9,
  ping: 10,
  pong: 11,
} as const
export type FrameType = (typeof FrameType)[keyof typeof FrameType]

export const Channel = { input: 0, output: 1, stdout: 1, stderr: 2 } as const
export type Channel = (typeof Channel)[keyof typeof Channel]

export const Op = {
  execStart: 1,
  execAttach: 2,
  execSignal: 3,
  execList: 4,
  execForget: 5,
  shellList: 6,
  shellClose: 7,
  termOpen: 10,
  termResize: 11,
  termList: 12,
  termClose: 13,
  fileStat: 20,
  fileList: 21,
  fileRead: 22,
  fileWrite: 23,
  fileMkdir: 24,
  fileRename: 25,
  fileRemove: 26,
  fileSymlink: 27,
  fileSetattr: 28,
  fileWatch: 29,
  treeWrite: 30,
  treeRead: 31,
  portConnect: 40,
  identity: 50,
  info: 51,
  quiesce: 52,
  configure: 53,
} as const
export type Op = (typeof Op)[keyof typeof Op]
