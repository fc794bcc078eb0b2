/** The properties that have a value: an option given as undefined must not hide a default. */
export function withoutUndefined<T extends object>(object: T): Given<T> {
  const given = Object.entries(object).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as Given<T>
}

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}
