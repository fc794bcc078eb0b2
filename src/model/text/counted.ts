/** `1 change`, `2 changes`, `0 entries`: with the plural that English has. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`
}
