/** Forkpoint: live environments that can be branched. */

export type { CommandSpec } from './agent/command-spec.ts'
export type {
  CommandHandle,
  CommandInfo,
  CommandOffsets,
  CommandOutput,
  CommandResult,
} from './agent/commands.ts'
export type { ShellInfo } from './agent/environment.ts'
export type { ExecInput } from './agent/exec.ts'
export { ConnectionLostError } from './agent/failures.ts'
export type { FileData, ReadAllOptions, ReadOptions, WriteOptions } from './agent/file-content.ts'
export type { FileWatch, WatchEvent, WatchKind, WatchOptions } from './agent/file-watch.ts'
export type {
  FileEntry,
  FileInfo,
  FileOwner,
  FileType,
  MkdirOptions,
  RemoveOptions,
  StatOptions,
} from './agent/files.ts'
export type { ForwardOptions, PortForward } from './agent/ports.ts'
export type { ScreenText } from './agent/screen.ts'
export type {
  TerminalHandle,
  TerminalInfo,
  TerminalOptions,
  TerminalSize,
} from './agent/terminals.ts'
export type { TransferOptions, TransferProgress, TransferSummary } from './agent/transfer.ts'
export type { UploadOptions } from './agent/upload.ts'
export type { Check, InstanceStats } from './backends/backend.ts'
export type { LoadedSettings, Origin } from './config/load-settings.ts'
export type { CreateOptions } from './engine/create.ts'
export type { Doctor } from './engine/doctor.ts'
export type { Environment, EnvironmentInfo, SpawnOptions } from './engine/environment.ts'
export type { ExecOptions, ExecResult } from './engine/exec-options.ts'
export type { EnvironmentFiles } from './engine/files.ts'
export { Forkpoint, type ListOptions, type OpenOptions } from './engine/forkpoint.ts'
export type { EnvironmentPorts } from './engine/ports.ts'
export type { Shell } from './engine/shell.ts'
export type { Capability } from './model/capabilities.ts'
export type {
  BackendName,
  EnvironmentStatus,
  Limits,
  NetMode,
  Source,
  SourceRequest,
} from './model/environment.ts'
export {
  BackendError,
  ConflictError,
  ForkpointError,
  InvalidInputError,
  NotFoundError,
  PrerequisiteError,
  ResourceError,
  TimeoutError,
  UnsupportedError,
} from './model/errors.ts'
export type { Settings } from './model/settings.ts'
