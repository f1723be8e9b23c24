import './problems.css'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { ArrowIcon } from '../ui/icons.tsx'
import { Input } from '../ui/input.tsx'
import { PageTitle } from '../ui/page-title.tsx'
import { WithCode } from '../ui/with-code.tsx'
import catalogue from './catalogue.json'
import { exampleOf, linesOf } from './example.ts'
import { OpenPage } from './open-page.tsx'
import { type Entry, matches, nearestCodes } from './words.ts'

/** By status, then in the order of the catalogue. */
const problems = Object.entries<Entry>(catalogue).sort(([, a], [, b]) => a.status - b.status)
const codes = problems.map(([code]) => code)

/** Every problem that the service answers with, for developers with or without an account. */
export function ProblemsView() {
  const [search, setSearch] = useState('')
  const found = problems.filter(([code, entry]) => matches(code, entry, search))
  const groups = Map.groupBy(found, ([, { status }]) => status)
  return (
    <OpenPage>
      <PageTitle title="Problems" />
      <p className="soft lead">
        The service reports every failure as <code>application/problem+json</code>. Programs should go by its{' '}
        <code>code</code>: this is what each code means and what to do about it.
      </p>
      <search className="problems-search no-print">
        <Input
          label="Filter by code, status or word"
          id="problems-search"
          type="search"
          value={search}
          spellCheck={false}
          onChange={(event) => setSearch(event.target.value)}
        />
      </search>
      <p className="small soft" role="status">
        {countOf(found.length)}
      </p>
      {[...groups].map(([status, entries]) => (
        <Group key={status} status={status} entries={entries} />
      ))}
    </OpenPage>
  )
}

function countOf(found: number): string {
  if (found === 0) return 'No problem matches all of these words.'
  if (found === problems.length) return `${found} problems`
  return `${found} of ${problems.length} problems`
}

function Group({ status, entries }: { status: number; entries: [string, Entry][] }) {
  return (
    <section className="stack gap-3 problems-group" aria-labelledby={`status-${status}`}>
      <h2 id={`status-${status}`}>
        {status} <span className="soft">{entries[0]?.[1].reason}</span>
      </h2>
      <CodeList codes={entries.map(([code]) => code)} />
    </section>
  )
}

function CodeList({ codes: listed }: { codes: readonly string[] }) {
  return (
    <ul className="card lined problems-list">
      {listed.map((code) => (
        <li key={code}>
          <Link to="/problems/$code" params={{ code }}>
            <code>{code}</code>
            <span>{entryOf(code)?.title}</span>
            <ArrowIcon to="right" />
          </Link>
        </li>
      ))}
    </ul>
  )
}

function entryOf(code: string): Entry | undefined {
  return Object.hasOwn(catalogue, code) ? (catalogue as Record<string, Entry>)[code] : undefined
}

/** The page that the `type` of a problem leads to. */
export function ProblemView() {
  const { code } = useParams({ from: '/problems/$code' })
  const entry = entryOf(code)
  return (
    <OpenPage>
      <p className="small">
        <Link to="/problems" className="back">
          <ArrowIcon to="left" />
          All problems
        </Link>
      </p>
      {entry ? (
        <OneProblem key={code} code={code} entry={entry} />
      ) : (
        <UnknownProblem key={code} code={code} />
      )}
    </OpenPage>
  )
}

function OneProblem({ code, entry }: { code: string; entry: Entry }) {
  return (
    <article className="stack gap-6 problem">
      <header className="stack gap-3">
        <PageTitle title={entry.title} />
        <p className="row">
          <code className="tag">{code}</code>
          <span className="soft">
            {entry.status} {entry.reason}
          </span>
        </p>
      </header>
      <section className="stack gap-3" aria-labelledby="problem-remedy">
        <h2 id="problem-remedy">What to do</h2>
        <p>
          <WithCode text={entry.remedy} className="tag" />
        </p>
      </section>
      <Example code={code} entry={entry} />
      <Neighbours code={code} />
    </article>
  )
}

function Example({ code, entry }: { code: string; entry: Entry }) {
  const { head, body } = exampleOf(code, entry, location.origin)
  return (
    <section className="stack gap-3" aria-labelledby="problem-example">
      <h2 id="problem-example">Example response</h2>
      <pre className="card problem-example">
        <code>
          <span className="soft">{head.join('\n')}</span>
          {'\n\n'}
          {linesOf(body).map(({ number, indent, name, rest }) => (
            <span key={number}>
              {indent}
              <span className="problem-member">{name}</span>
              {rest}
              {'\n'}
            </span>
          ))}
        </code>
      </pre>
    </section>
  )
}

function Neighbours({ code }: { code: string }) {
  const at = codes.indexOf(code)
  const [before, after] = [codes[at - 1], codes[at + 1]]
  return (
    <nav className="row row-between ruled problem-neighbours no-print" aria-label="Neighbouring problems">
      {before !== undefined && <Neighbour code={before} to="left" />}
      {after !== undefined && <Neighbour code={after} to="right" />}
    </nav>
  )
}

function Neighbour({ code, to }: { code: string; to: 'left' | 'right' }) {
  const [rel, label] = to === 'left' ? ['prev', 'Previous'] : ['next', 'Next']
  return (
    <Link
      to="/problems/$code"
      params={{ code }}
      rel={rel}
      className={`row problem-to-${to}`}
      aria-label={`${label}: ${code}`}
    >
      <ArrowIcon to={to} />
      <code>{code}</code>
    </Link>
  )
}

function UnknownProblem({ code }: { code: string }) {
  return (
    <article className="stack gap-6 problem">
      <header className="stack gap-3">
        <PageTitle title="No such problem" />
        <p className="soft wrap lead">
          The service has no problem with the code <code>{code}</code>. It may be one of these.
        </p>
      </header>
      <CodeList codes={nearestCodes(code, codes)} />
    </article>
  )
}
