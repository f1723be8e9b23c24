import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { readCheckpoint, readNote } from '../../../../proof/note.ts'
import type { Statement } from '../../../../proof/receipt.ts'
import { isolated } from '../../../../rules/isolate.ts'
import { Facts } from '../../ui/facts.tsx'
import { formatCount, formatDate, formatExactInstant, formatTotal, inSeries } from '../../ui/format.ts'
import mark from '../../ui/mark.svg'
import { Name, Who } from '../../ui/name.tsx'
import { numberOf } from '../identity.ts'
import { codeQuery } from './queries.ts'

interface CertificateProps {
  statement: Statement
  jws: string
}

/** The document: what was approved, by whom, and the proof of it. */
export function Certificate(props: CertificateProps) {
  const { statement } = props
  return (
    <article className="card sheet stack gap-5 wrap" aria-label="Approval certificate">
      <header className="row nowrap row-between receipt-head">
        <div className="stack">
          <div className="row">
            <img src={mark} alt="" width="36" height="36" />
            <div>
              {statement.organisation !== null && (
                <p className="label">
                  <Name of={statement.organisation} />
                </p>
              )}
              <p className="soft small">{statement.iss}</p>
            </div>
          </div>
          <h2>{sentenceOf(statement)}</h2>
        </div>
        <Code link={`${statement.iss}/orders/${statement.order.id}/receipt`} />
      </header>
      <Facts className="receipt-facts" of={factsOf(statement)} />
      <Proof {...props} />
    </article>
  )
}

/** Such as "ann and bo for cy approved 359.46 for Béranger on November 25, 2026." */
function sentenceOf({ order, approvals }: Statement): string {
  const people = approvals.map(({ by, for: absent }) =>
    absent === null ? isolated(by) : `${isolated(by)} for ${isolated(absent)}`,
  )
  const on = formatDate(approvals.at(-1)?.atUtc ?? order.createdAtUtc)
  return `${inSeries(people)} approved ${formatTotal(order.total)} for ${isolated(order.customer)} on ${on}.`
}

function factsOf({ order, approvals, line }: Statement): Record<string, ReactNode> {
  return {
    Customer: <Name of={order.customer} />,
    Total: <span className="large-total">{formatTotal(order.total)}</span>,
    Order: numberOf(order),
    Created: (
      <>
        {order.createdBy !== null && (
          <>
            by <Name of={order.createdBy} />,{' '}
          </>
        )}
        <Instant at={order.createdAtUtc} />
      </>
    ),
    [approvals.length === 1 ? 'Approved' : `${formatCount(approvals.length)} approvals`]: (
      <ul>
        {approvals.map(({ by, for: absent, atUtc, signature }) => (
          <li key={`${by} ${atUtc}`}>
            by{' '}
            <strong>
              <Who is={by} for={absent} />
            </strong>
            , <Instant at={atUtc} />
            {signature && (
              <div>
                Signed by <Name of={by} /> with the passkey of {formatDate(signature.passkey.addedAtUtc)}
              </div>
            )}
          </li>
        ))}
      </ul>
    ),
    'Recorded in the log': `Log entry #${formatCount(line.sequence)}`,
  }
}

/** On paper, this is the way back to the page. */
function Code({ link }: { link: string }) {
  const { data: code } = useQuery(codeQuery(link))
  return (
    <figure className="receipt-code">
      {code && (
        <>
          <svg viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={`QR code: ${link}`}>
            <path d={code.path} fill="currentColor" shapeRendering="crispEdges" />
          </svg>
          <figcaption className="soft small">Scan to check</figcaption>
        </>
      )}
    </figure>
  )
}

/** Folded on screen, open on paper. */
function Proof({ statement: { iss, iat, order, approvals, checkpoint }, jws }: CertificateProps) {
  const covered = readCheckpoint(readNote(checkpoint).text)
  return (
    <details className="ruled receipt-proof">
      <summary>Proof</summary>
      <div className="stack gap-3">
        <Facts
          className="receipt-facts"
          of={{
            'Id of the order': <code className="small">{order.id}</code>,
            Checkpoint: `The log went up to entry #${formatCount(covered.size)}`,
            Signed: <Instant at={new Date(iat * 1000).toISOString()} />,
          }}
        />
        {approvals.some(({ signature }) => signature) && (
          <p>
            The signature of a passkey covers exactly what is written here about the order. Only its owner’s
            device can make it: not this service, and nobody who has its database and keys.
          </p>
        )}
        <p>
          The signature below covers everything above, and never expires. Any JWT library verifies it with the
          public keys at <a href="/.well-known/jwks.json">{iss}/.well-known/jwks.json</a>.{' '}
          <Link to="/auditing" hash="was-this-order-approved-and-by-whom" className="no-print">
            How to check it yourself
          </Link>
        </p>
        <p className="soft receipt-jws">
          <code>{jws}</code>
        </p>
      </div>
    </details>
  )
}

function Instant({ at }: { at: string }) {
  return <time dateTime={at}>{formatExactInstant(at)}</time>
}
