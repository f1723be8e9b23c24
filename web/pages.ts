import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked } from 'marked'

const read = (name: string) => readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8')

/**
 * Makes pages of documents, for everyone: how to check the log, problems/<code>.html for each problem, and
 * problems.html with a list of all. They have no script. Style sheet and icon are those of the app, whose
 * index.html is in the folder.
 */
export function makePages(folder: string): void {
  const [introduction = '', ...sections] = read('problems').split(/^## /m)
  const problems = sections.map(problemOf).sort((a, b) => Number(a.status) - Number(b.status))
  const frame = frameOf(readFileSync(join(folder, 'index.html'), 'utf8'))
  const save = (name: string, title: string, content: string) =>
    writeFileSync(join(folder, `${name}.html`), frame(title, content))
  const auditing = read('auditing')
  save('auditing', /^# (.+)$/m.exec(auditing)?.[1] ?? '', html(auditing))
  mkdirSync(join(folder, 'problems'))
  for (const problem of problems) save(`problems/${problem.code}`, problem.title, articleOf(problem))
  save('problems', 'Problems', html(introduction.slice(introduction.indexOf('# '))) + tableOf(problems))
}

type Problem = ReturnType<typeof problemOf>

function problemOf(section: string) {
  const [code = '', about = '', remedy = ''] = section.trim().split('\n\n')
  const [, status, title] = /^(\d+): (.*)\.$/.exec(about) ?? []
  if (status === undefined || title === undefined) throw new Error(`docs/problems.md: ${about}`)
  return { code, status, title, remedy: html(remedy) }
}

const marked = new Marked({
  renderer: {
    heading({ depth, text, tokens }) {
      const id = text.toLowerCase().replaceAll(/\W+/g, '-')
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>`
    },
    /** Other documents are no pages: their names are shown. */
    link: ({ href }) => !/^(?:https?:|\/|#)/.test(href) && `<code>docs/${href}</code>`,
    html: () => '',
  },
})
const html = (text: string) =>
  marked.parse(text, { async: false }).replaceAll('<table>', '<table class="table">')

function articleOf({ code, status, title, remedy }: Problem): string {
  return `
      <p><a href="/problems">All problems</a></p>
      <h1>${title}</h1>
      <p><code class="tag">${code}</code> <span class="soft">Status ${status}</span></p>
      <h2>What to do</h2>
      ${remedy}`
}

function tableOf(problems: Problem[]): string {
  const rows = problems.map(({ code, status, title }) => {
    const link = `<a href="/problems/${code}"><code>${code}</code></a>`
    return `<tr><td>${link}</td><td>${status}: ${title}</td></tr>`
  })
  const head = '<thead><tr><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>'
  return `<table class="table">${head}<tbody>${rows.join('\n')}</tbody></table>`
}

function frameOf(index: string) {
  const [icon, style] = ['icon', 'stylesheet'].map(
    (rel) => new RegExp(`<link rel="${rel}".*? href="(.+?)"`).exec(index)?.[1],
  )
  return (title: string, content: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title} · Countersign</title>
    <link rel="icon" type="image/svg+xml" href="${icon}" />
    <link rel="stylesheet" href="${style}" />
  </head>
  <body>
    <header class="open-page-header no-print">
      <a href="/" class="brand"><img src="${icon}" alt="" width="28" height="28" />Countersign</a>
    </header>
    <main class="open-page-main"><article class="stack rows-to-cards open-page-text">${content}</article></main>
  </body>
</html>
`
}
