/**
 * The policy of the page allows no style element, and xterm makes some while it opens a screen. What asks for one
 * meanwhile gets an element that hands its text to a constructed style sheet, which the policy allows.
 */
export function withSheets(open: () => void): void {
  const create = document.createElement.bind(document)
  const value = (tag: string) => (tag === 'style' ? sheetElement(create('span')) : create(tag))
  Object.defineProperty(document, 'createElement', { configurable: true, value })
  try {
    open()
  } finally {
    // What the browser has itself is behind it.
    Reflect.deleteProperty(document, 'createElement')
  }
}

/** Stands where the style element would, and takes its sheet with it when it goes. */
function sheetElement(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet()
  const remove = element.remove.bind(element)
  element.hidden = true
  Object.defineProperty(element, 'textContent', { set: (text: string) => sheet.replaceSync(text) })
  Object.defineProperty(element, 'remove', {
    value: () => {
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet)
      remove()
    },
  })
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  return element
}
