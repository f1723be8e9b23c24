import { lexer, type Token, type Tokens } from 'marked'
import type { Plugin } from 'vite'

/**
 * Makes React elements of a Markdown file when the app is built, so the browser needs no parser: its `title`,
 * and the `content` below that. Throws for Markdown that none of our pages has.
 */
export const markdown: Plugin = {
  name: 'markdown',
  transform(text, id) {
    if (!id.endsWith('.md')) return undefined
    const [title, ...content] = lexer(text)
    return {
      code: `import { createElement, Fragment } from 'react'
        export const title = ${JSON.stringify((title as Tokens.Heading).text)}
        export const content = createElement(Fragment, null, ${childrenOf(content)})`,
      map: null,
    }
  },
}

const childrenOf = (tokens: readonly Token[] = []) => tokens.map(elementOf).filter(Boolean).join(',')

const element = (tag: string, children: string, attributes = {}) =>
  `createElement(${JSON.stringify(tag)},${JSON.stringify(attributes)},${children})`

/** The source of an element; empty for what is not shown. */
function elementOf(token: Token): string {
  const write = writers[token.type]
  if (write === undefined) throw new Error(`no element for ${token.type}: ${token.raw}`)
  return write(token as never)
}

const writers: Record<string, (token: never) => string> = {
  space: () => '',
  html: () => '',
  text: ({ text, tokens }: Tokens.Text) => (tokens ? childrenOf(tokens) : JSON.stringify(text)),
  strong: ({ tokens }: Tokens.Strong) => element('strong', childrenOf(tokens)),
  codespan: ({ text }: Tokens.Codespan) => element('code', JSON.stringify(text)),
  link: writeLink,
  paragraph: ({ tokens }: Tokens.Paragraph) => element('p', childrenOf(tokens)),
  heading: ({ depth, text, tokens }: Tokens.Heading) =>
    element(`h${depth}`, childrenOf(tokens), { id: text.toLowerCase().replaceAll(/\W+/g, '-') }),
  code: ({ text }: Tokens.Code) => element('pre', element('code', JSON.stringify(text))),
  list: ({ items }: Tokens.List) =>
    element('ul', items.map(({ tokens }) => element('li', childrenOf(tokens))).join(',')),
  table: ({ header, rows }: Tokens.Table) =>
    element('table', [element('thead', rowOf('th', header)), element('tbody', rowsOf(rows))].join(','), {
      className: 'table',
    }),
}

const rowsOf = (rows: Tokens.TableCell[][]) => rows.map((cells) => rowOf('td', cells)).join(',')

function rowOf(tag: 'th' | 'td', cells: Tokens.TableCell[]): string {
  return element('tr', cells.map(({ tokens }) => element(tag, childrenOf(tokens))).join(','))
}

/** Other pages of docs/ are not part of the app: their names are shown. */
function writeLink({ href, tokens }: Tokens.Link): string {
  if (/^(?:https?:|\/|#)/.test(href)) return element('a', childrenOf(tokens), { href })
  return element('code', JSON.stringify(`docs/${href}`))
}
