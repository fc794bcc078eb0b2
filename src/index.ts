/** Forkpoint: live environments that can be branched. */

export type { CommandSpec } from './agent/commands/command-spec.ts'
export type {
  CommandHandle,
  CommandInfo,
  CommandOffsets,
  CommandOutput,
  CommandResult,
} from './agent/commands/commands.ts'
export type { ExecInput } from './agent/commands/exec.ts'
export type { ShellInfo } from './agent/environment.ts'
export { ConnectionLostError } from './agent/failures.ts'
export type {
  FileData,
  ReadAllOptions,
  ReadOptions,
  WriteOptions,
} from './agent/files/file-content.ts'
export type { FileWatch, WatchEvent, WatchKind, WatchOptions } from './agent/files/file-watch.ts'
export type {
  FileEntry,
  FileInfo,
  FileOwner,
  FileType,
  MkdirOptions,
  RemoveOptions,
  StatOptions,
} from './agent/files/files.ts'
export type { TransferOptions, TransferProgress, TransferSummary } from './agent/files/transfer.ts'
export type { UploadOptions } from './agent/files/upload.ts'
export type { ForwardOptions, PortForward } from './agent/ports.ts'
export type { ScreenText } from './agent/terminals/screen.ts'
export type {
  TerminalHandle,
  TerminalInfo,
  TerminalOptions,
  TerminalSize,
} from './agent/terminals/terminals.ts'
export type { Check, CopyReport, InstanceStats, MemoryAccount } from './backends/backend.ts'
export type { LoadedSettings, Origin } from './config/load-settings.ts'
export type { Compaction } from './engine/background/compact.ts'
export type { ApplyConflict } from './engine/copying/apply/plan.ts'
export type { ApplyOptions, ApplyReport } from './engine/copying/apply.ts'
export type { DiffOptions, FilesDiff } from './engine/copying/compare.ts'
export type { ExportOptions } from './engine/copying/export.ts'
export type { Doctor } from './engine/doctor.ts'
export type { Environment, EnvironmentInfo } from './engine/environment.ts'
export type { ForkpointEvent } from './engine/events.ts'
export type { ExecOptions, ExecResult, SpawnOptions } from './engine/exec-options.ts'
export type { EnvironmentFiles } from './engine/files.ts'
export { Forkpoint, type ListOptions, type OpenOptions, type Spare } from './engine/forkpoint.ts'
export type { LogEntry } from './engine/history/log.ts'
export type { RemovalOptions } from './engine/history/removal.ts'
export type { KeepReason, PrunePlan, RetentionRules } from './engine/history/retention.ts'
export type { EnvironmentNode, SnapshotNode, TreeNode } from './engine/history/tree.ts'
export type { EnvironmentUsage, SnapshotUsage, Usage } from './engine/history/usage.ts'
export type { CreateOptions } from './engine/operations/create.ts'
export type { ForkOptions } from './engine/operations/fork.ts'
export type { Forks } from './engine/operations/forks.ts'
export type { PauseOptions } from './engine/operations/pause.ts'
export type { PruneOptions } from './engine/operations/prune.ts'
export type { SnapshotOptions } from './engine/operations/snapshot.ts'
export type { SnapshotFilter } from './engine/operations/snapshot-record.ts'
export type { EnvironmentPorts } from './engine/ports.ts'
export type { Shell } from './engine/shell.ts'
export type { Snapshot, SnapshotInfo } from './engine/snapshot-handle.ts'
export type { Capability } from './model/capabilities.ts'
export type {
  BackendName,
  EnvironmentStatus,
  Limits,
  MemoryMode,
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
export type { ChangeKind, FileChange } from './model/file-change.ts'
export type { EnvironmentId, OperationId, SnapshotId } from './model/ids.ts'
export type { Settings } from './model/settings.ts'
export type {
  Captured,
  ProcessMemory,
  SnapshotMemory,
  SnapshotSizes,
  SnapshotStatus,
  SnapshotTiming,
} from './model/snapshot.ts'
