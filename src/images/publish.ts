import { ConflictError } from '../model/errors.ts'
import { type Entry, findEntry, removeEntry, writeEntry } from './cache.ts'
import type { ImageStore } from './image-store.ts'

/** Lists a complete image. `prune` waits meanwhile, so it removes no layer that another image begins to use. */
export async function publish(store: ImageStore, entry: Entry): Promise<Entry> {
  const { places, exclusively } = store
  return await exclusively('images', 'adding an image', async () => {
    await writeEntry(places, entry)
    const written = await findEntry(places, entry.facts.id)
    if (written !== null) return written
    await removeEntry(places, entry.facts.id)
    throw new ConflictError('a layer of the image was removed while the image was being added', {
      remedy: 'try again',
    })
  })
}

/** The same image may be known by several sources. */
export async function withName(store: ImageStore, entry: Entry, name: string): Promise<Entry> {
  if (entry.names.includes(name)) return entry
  return await publish(store, { ...entry, names: [...entry.names, name] })
}
