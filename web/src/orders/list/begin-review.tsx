import { useNavigate } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { useMayDecide } from '../../auth/absence.ts'
import { Key } from '../../ui/key.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { ListSearch } from '../address/address.ts'
import { mostSelected, questionOfList, questionOfSelected } from '../address/question.ts'
import { forgetCourse } from '../decide/course.ts'
import { useChosen } from '../decide/selection.ts'
import type { ListedOrder } from '../order.ts'
import { rowIdOf } from './rows.ts'

interface BeginProps {
  search: ListSearch
  /** The orders on the screen. */
  orders: readonly ListedOrder[]
}

/**
 * Begins a review of the selected orders, or of those of the list that wait for the person, at the focused
 * row or the first one on the screen.
 */
export function BeginReview({ search, orders }: BeginProps) {
  const navigate = useNavigate()
  const mayDecide = useMayDecide()
  const chosen = useChosen(search.filter ?? '')
  const hasAny = mayDecide && orders.length + chosen.size > 0
  function begin() {
    const focused = rowIdOf(document.activeElement)
    const isListed = orders.some(({ id }) => id === focused)
    const asked = questionOfList(search)
    const first = orders.find(({ mayApprove }) => mayApprove || asked.filter === search.filter)
    const at = isListed ? focused : first?.id
    const question = chosen.size > 0 ? questionOfSelected(search, [...chosen.keys()]) : { ...asked, at }
    forgetCourse()
    void navigate({ to: '/orders/review', search: question })
  }
  useShortcut('v', hasAny ? begin : undefined)
  if (!mayDecide) return null
  return (
    <Button className="button" aria-disabled={!hasAny} {...(hasAny && { onPress: begin })}>
      {nameFor(chosen.size)}
      <Key name="v" />
    </Button>
  )
}

function nameFor(selected: number): string {
  if (selected > mostSelected) return `Review the first ${mostSelected} selected`
  return selected > 0 ? 'Review selected' : 'Review'
}
