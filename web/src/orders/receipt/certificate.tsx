import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { readCheckpoint, readNote } from '../../../../proof/note.ts'
import type { ApprovedOrder } from '../../../../proof/order.ts'
import type { Receipt } from '../../../../proof/receipt.ts'
import { describeRules, hiddenCustomer, hiddenDocument, nameOf } from '../../../../proof/words.ts'
import { isolated } from '../../../../rules/isolate.ts'
import { Facts } from '../../ui/facts.tsx'
import { formatCount, formatDate, formatExactInstant, formatTotal, inSeries } from '../../ui/format.ts'
import mark from '../../ui/mark.svg'
import { Name, Who } from '../../ui/name.tsx'
import { numberOf } from '../identity.ts'
import { codeQuery } from './queries.ts'

interface CertificateProps {
  order: ApprovedOrder
  receipt: Receipt
}

/** Letterhead: no line of the log says it. */
const organisation = document.querySelector<HTMLMetaElement>('meta[name="organisation"]')?.content

/** The document: what was approved, by whom, as the lines of the log say. */
export function Certificate({ order, receipt }: CertificateProps) {
  const { iss } = receipt
  return (
    <article className="card sheet stack gap-5 wrap" aria-label="Approval certificate">
      <header className="row nowrap row-between receipt-head">
        <div className="stack">
          <div className="row">
            <img src={mark} alt="" width="36" height="36" />
            <div>
              {organisation && (
                <p className="label">
                  <Name of={organisation} />
                </p>
              )}
              <p className="soft small">{iss}</p>
            </div>
          </div>
          <h2>{sentenceOf(order)}</h2>
        </div>
        <Code link={`${iss}/verify`} />
      </header>
      <Facts of={factsOf(order)} />
      <Proof order={order} receipt={receipt} />
    </article>
  )
}

const customerOf = ({ customer }: ApprovedOrder) => customer ?? hiddenCustomer

/** Such as "ann and bo for cy approved 359.46 for Béranger on November 25, 2026." */
export function sentenceOf(order: ApprovedOrder): string {
  const people = order.approvals.map(({ by, for: absent }) =>
    absent === null ? isolated(nameOf(by)) : `${isolated(nameOf(by))} for ${isolated(nameOf(absent))}`,
  )
  const on = formatDate(order.approvals.at(-1)?.atUtc ?? order.created.atUtc)
  return `${inSeries(people)} approved ${formatTotal(order.total)} for ${isolated(customerOf(order))} on ${on}.`
}

function factsOf(order: ApprovedOrder): Record<string, ReactNode> {
  const { approvals, created, documents, rules, sequence, total } = order
  return {
    Customer: <Name of={customerOf(order)} />,
    Total: <span className="large-total">{formatTotal(total)}</span>,
    Order: numberOf(order),
    Created: (
      <>
        by <Name of={nameOf(created.by)} />, <Instant at={created.atUtc} />
      </>
    ),
    Rule: describeRules(rules),
    Documents:
      documents.length === 0 ? null : (
        <ul>
          {documents.map(({ name, sha256, sequence }) => (
            <li key={sequence}>
              <Name of={name ?? hiddenDocument} />
              <div className="soft small">SHA-256 {sha256}</div>
            </li>
          ))}
        </ul>
      ),
    [approvals.length === 1 ? 'Approved' : `${formatCount(approvals.length)} approvals`]: (
      <ul>
        {approvals.map(({ by, for: absent, atUtc, role, signature, sequence }) => (
          <li key={sequence}>
            by{' '}
            <strong>
              <Who is={nameOf(by)} for={absent && nameOf(absent)} />
            </strong>
            {role !== null && (
              <>
                , in the role <Name of={role} />
              </>
            )}
            , <Instant at={atUtc} />
            {signature && (
              <div>
                Signed by <Name of={nameOf(by)} /> with the passkey of {formatDate(signature.passkey.atUtc)}
              </div>
            )}
          </li>
        ))}
      </ul>
    ),
    'Recorded in the log': `Log entry #${formatCount(sequence)}`,
  }
}

/** On paper, this is the way to the page that checks the file. */
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
function Proof({ order, receipt }: CertificateProps) {
  const { checkpoint, iss, lines } = receipt
  const covered = readCheckpoint(readNote(checkpoint).text)
  return (
    <details className="ruled receipt-proof">
      <summary>Proof</summary>
      <div className="stack gap-3">
        <Facts
          of={{
            'Id of the order': <code className="small">{order.id}</code>,
            'Entries of the log': lines.map(({ line }) => `#${formatCount(line.sequence)}`).join(', '),
            Checkpoint: `${covered.origin}, up to entry #${formatCount(covered.size)}`,
          }}
        />
        {order.approvals.some(({ signature }) => signature) && (
          <p>
            The signature of a passkey covers exactly what is written here about the order. Only its owner’s
            device can make it: not this service, and nobody who has its database and keys.
          </p>
        )}
        <p>
          This page is made of these entries of the log alone. The file of the certificate has them, and what
          proves them: anyone can check it at {iss}/verify, with the key of the log and without the service.
          Paper proves nothing.{' '}
          <a href="/auditing#was-this-order-approved-and-by-whom" className="no-print">
            How to check it yourself
          </a>
        </p>
      </div>
    </details>
  )
}

function Instant({ at }: { at: string }) {
  return <time dateTime={at}>{formatExactInstant(at)}</time>
}
