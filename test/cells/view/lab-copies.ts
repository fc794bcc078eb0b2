import { join } from 'node:path'
import type { ChangeSource } from '../../../src/api/host/apply/source.ts'
import { type ApplyOptions, type ApplyReport, applyTo } from '../../../src/api/host/apply.ts'
import { type ExportOptions, exportArchive } from '../../../src/api/host/export.ts'
import type { View } from '../../../src/backends/backend.ts'
import { digestContents, listChanges } from '../../../src/engine/copying/applicable-changes.ts'
import { archiveFiles } from '../../../src/engine/copying/archive.ts'
import type { CopyReport } from '../../../src/model/files/copy-report.ts'
import { labFiles } from './lab-files.ts'
import type { OverlayLab } from './overlay-lab.ts'

interface Spec {
  readonly from: View
  readonly to: View
  readonly workdir: string
}

/** Both halves of an export, without an engine. */
export function exportView(
  lab: OverlayLab,
  source: { readonly view: View; readonly workdir: string },
  target: string,
  options: ExportOptions & { readonly paths?: readonly string[] } = {},
): Promise<CopyReport> {
  const archive = async () => archiveFiles(labFiles(lab), source, options.paths)
  return exportArchive(archive, target, options)
}

/** Both halves of an apply, without an engine. */
export function applyView(
  lab: OverlayLab,
  spec: Spec,
  target: string,
  options: ApplyOptions = {},
): Promise<ApplyReport> {
  return applyTo(target, labSource(lab, spec), { ...options, stateDir: stateDir(lab) })
}

export function labSource(lab: OverlayLab, spec: Spec): ChangeSource {
  const files = labFiles(lab)
  const changed = { files, ...spec }
  return {
    changes: () => listChanges(changed),
    digests: (paths) => digestContents(changed, paths),
    archive: async (paths) => archiveFiles(files, { view: spec.to, workdir: spec.workdir }, paths),
  }
}

export function stateDir(lab: OverlayLab): string {
  return join(lab.dir, 'applies')
}
