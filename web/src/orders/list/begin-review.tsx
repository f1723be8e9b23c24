import { useNavigate } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { useMayDecide } from '../../auth/absence.ts'
import { Key } from '../../ui/key.tsx'
import { useShortcut } from '../../ui/shortcuts.ts'
import type { ListSearch } from '../address/address.ts'
import { mostSelected, questionOfSelected, searchOf } from '../address/question.ts'
import { forgetCourse } from '../decide/course.ts'
import { useChosen } from '../decide/selection.ts'
import type { OrderSummary } from '../order.ts'
import { rowIdOf } from './rows.ts'

interface BeginProps {
  search: ListSearch
  /** The orders on the screen. */
  orders: readonly OrderSummary[]
}

/**
 * Begins a review of the whole list, at the focused row or the first one on the screen, or of the selected
 * orders.
 */
export function BeginReview({ search, orders }: BeginProps) {
  const navigate = useNavigate()
  const mayDecide = useMayDecide()
  const chosen = useChosen(search.filter ?? '')
  const hasAny = mayDecide && orders.length + chosen.size > 0
  function begin() {
    const focused = rowIdOf(document.activeElement)
    const isListed = orders.some(({ id }) => id === focused)
    const at = isListed ? focused : orders[0]?.id
    const question =
      chosen.size > 0 ? questionOfSelected(search, [...chosen.keys()]) : { ...searchOf(search), at }
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
