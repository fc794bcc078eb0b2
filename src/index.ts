/** Forkpoint: live environments that can be branched. */

// Opening a home

export type {
  AttachOptions,
  CreateOptions,
  ForkpointHandle,
  ListOptions,
  PruneImagesOptions,
  PruneOptions,
  SnapshotFilter,
} from './api/handles/forkpoint.ts'
export type { Check } from './backends/backend.ts'
export type { ConnectOptions, ConnectTarget } from './client/connect.ts'
export type { Flags } from './config/layers.ts'
export type { LoadedSettings, Origin } from './config/load-settings.ts'
export type { SettingKey } from './config/schema.ts'
export type { Doctor } from './engine/doctor.ts'
export { Forkpoint, type OpenOptions } from './forkpoint.ts'
export type { LogLevel } from './model/log.ts'
export type {
  DockerSettings,
  EngineSettings,
  GvisorSettings,
  ImageTool,
  NativeSettings,
  PodmanSettings,
  Settings,
  TrackingKind,
  VolumeKind,
} from './model/settings.ts'

// Tokens of a daemon

export type { NewToken, TokenInfo } from './api/contract/data/token.ts'
export type { TokenOptions, Tokens } from './api/handles/tokens.ts'

// Environments

export type {
  EndedCommand,
  EnvironmentInfo,
  InstanceStats,
  LogEntry,
  MemoryAccount,
  NetChange,
  PolicyInfo,
} from './api/contract/data/environment.ts'
export type { CallOptions, EventOptions } from './api/control.ts'
export type {
  DiffOptions,
  EndOptions,
  Environment,
  FollowOptions,
  KillOptions,
  ListCommandsOptions,
  NetOptions,
  PauseOptions,
  PolicyOptions,
  RestoreOptions,
  SnapshotOptions,
} from './api/handles/environment.ts'
export type { ForkOptions, Forks, LiveForkOptions } from './api/handles/forks.ts'
export type { AdmissionLimits, AdmissionSettings, Share } from './model/admission.ts'
export type { Capability } from './model/capabilities.ts'
export type {
  BackendName,
  EnvironmentStatus,
  Json,
  Limits,
  MemoryMode,
  NetMode,
  NetSpec,
  Source,
  SourceRequest,
} from './model/environment.ts'
export type { EnvironmentId, OperationId, SnapshotId } from './model/ids.ts'
export type { Cause, IdleAction, IdlePolicy, WakeMode } from './model/policy.ts'
export type { ShortSource } from './model/source.ts'

// Commands, shells and terminals

export type {
  CommandInfo,
  CommandOffsets,
  CommandOutput,
  CommandResult,
} from './agent/commands/commands.ts'
export type { ExecInput } from './agent/commands/exec.ts'
export type { ExitStatus } from './agent/commands/signals.ts'
export type { ShellInfo } from './agent/environment.ts'
export type { ProcessInfo } from './agent/processes.ts'
export type { ScreenText } from './agent/terminals/screen.ts'
export type { TerminalSize } from './agent/terminals/size.ts'
export type { TerminalInfo, TerminalOptions } from './agent/terminals/terminals.ts'
export type { Command } from './api/handles/command.ts'
export type { ExecOptions, ExecResult, SpawnOptions } from './api/handles/exec-options.ts'
export type { Terminal } from './api/handles/terminal.ts'
export type { TerminalViewer, TerminalWatcher } from './api/handles/terminal-viewer.ts'

// Files and ports inside

export type {
  FileData,
  ReadAllOptions,
  ReadOptions,
  WriteOptions,
} from './agent/files/file-content.ts'
export type { FileWatch, WatchEvent, WatchKind, WatchOptions } from './agent/files/file-watch.ts'
export type {
  FileAttributes,
  FileEntry,
  FileInfo,
  FileOwner,
  FileType,
  ListFilesOptions,
  MkdirOptions,
  RemoveOptions,
  StatOptions,
  Xattrs,
} from './agent/files/files.ts'
export type {
  TransferOptions,
  TransferProgress,
  TransferSummary,
} from './agent/files/trees/transfer.ts'
export type { UploadOptions } from './agent/files/trees/upload.ts'
export type { ForwardOptions, PortForward, PortTarget } from './agent/ports.ts'
export type { EnvironmentFiles } from './api/handles/files.ts'
export type { EnvironmentPorts } from './api/handles/ports.ts'

// Snapshots, and the tree they form

export type {
  Compaction,
  CopiedMemory,
  KeepReason,
  Lost,
  MemoryTracking,
  ProcessMemory,
  PrunePlan,
  SnapshotFailure,
  SnapshotInfo,
  SnapshotMemory,
  SnapshotSizes,
  SnapshotTiming,
} from './api/contract/data/snapshot.ts'
export type {
  CachedImage,
  EnvironmentNode,
  EnvironmentUsage,
  FailureLog,
  ForkpointEvent,
  RunningOperation,
  SnapshotNode,
  SnapshotUsage,
  Spare,
  TreeNode,
  Usage,
} from './api/contract/data/store.ts'
export type { RemovalOptions, Snapshot } from './api/handles/snapshot.ts'
export type { Captured, SnapshotStatus } from './model/snapshot.ts'

// Comparing, exporting and applying files

export type { FilesDiff } from './api/contract/data/files.ts'
export type { ApplyOptions } from './api/handles/copying/apply-changes.ts'
export type { CopyAmount, ExportOptions } from './api/handles/copying/export-files.ts'
export type { ApplyConflict, ConflictReason } from './api/host/apply/plan.ts'
export type { ApplyReport } from './api/host/apply.ts'
export type { CopyProgress, CopyReport } from './model/files/copy-report.ts'
export type { ChangedFile, ChangeKind, FileChange, FileKind } from './model/files/file-change.ts'

// Managers, as StateFork has them

export { formatHistory, formatStats, formatStorage } from './manager/bench/format.ts'
export type { ManagerStats, OperationSummary } from './manager/bench/manager-stats.ts'
export type { ManagerOperation, OperationKind } from './manager/bench/operation-log.ts'
export type { Statistics } from './manager/bench/statistics.ts'
export type { EnvironmentBranch } from './manager/branch.ts'
export {
  createEnvManager,
  type EnvManagerOptions,
  type EnvManagerSettings,
  type SnakeCaseArguments,
} from './manager/create-env-manager.ts'
export type { CostModel } from './manager/decide/cost.ts'
export {
  type Decider,
  type DeciderChoice,
  type DecisionFacts,
  parseDecider,
  type SnapshotKind,
} from './manager/decide/decider.ts'
export type { EnvManager } from './manager/env-manager.ts'
export {
  checkHooks,
  type Hook,
  type HookOperation,
  type HookPhase,
  type HookPhases,
} from './manager/hooks/hook.ts'
export type { EnvMethod, MethodArguments } from './manager/methods.ts'
export type { Cleanup } from './manager/operations/clean-up.ts'
export type { Taken, TakeOptions } from './manager/operations/take-snapshot.ts'
export type { LoggedCommand, ReplayedOptions } from './manager/replay/logged-command.ts'
export { formatSnapshotTree, type TreePaint } from './manager/tree/format.ts'
export type {
  ManagedSnapshot,
  ManagedSnapshotFacts,
  PhysicalSnapshot,
  VirtualSnapshot,
} from './manager/tree/nodes.ts'

// Errors

export { ConnectionLostError } from './agent/failures.ts'
export type { Happened } from './model/errors.ts'
export {
  BackendError,
  ConflictError,
  ConnectionError,
  ForkpointError,
  InvalidInputError,
  NotFoundError,
  PermissionError,
  PrerequisiteError,
  ResourceError,
  TimeoutError,
  UnsupportedError,
} from './model/errors.ts'

// The contract, for other implementations of Control

export {
  contract,
  type Input,
  type OperationName,
  type Output,
  type StreamInput,
  type StreamName,
  streams,
} from './api/contract/contract.ts'
export type { Scope } from './api/contract/operation.ts'
export type { Control } from './api/control.ts'
