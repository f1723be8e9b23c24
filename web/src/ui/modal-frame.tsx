import { type CSSProperties, type ReactNode, type RefObject, useEffect, useReducer } from 'react'
import { Dialog, type DialogProps, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'

export interface ModalProps extends Omit<DialogProps, 'children'> {
  /** For content without a heading. */
  title?: string
  isOpen: boolean
  onOpenChange(isOpen: boolean): void
  /** Whether a press outside closes it. Escape always does. */
  isDismissable?: boolean
  /** The element below which it opens; otherwise in the middle of a dimmed page. */
  below?: RefObject<HTMLElement | null>
  children: ReactNode
}

/** A dialog over the page; `className` is that of its frame. */
export function ModalFrame({ title, className = '', below, children, ...props }: ModalProps) {
  const { isOpen, onOpenChange, isDismissable = true, ...dialog } = props
  const scrim = below ? 'menu-scrim' : 'dialog-scrim'
  return (
    <ModalOverlay className={scrim} {...{ isOpen, onOpenChange, isDismissable }}>
      <Modal className={`dialog ${below ? 'menu' : className}`} style={useEdges(below)}>
        <Dialog {...dialog}>
          {title && (
            <Heading slot="title" level={2}>
              {title}
            </Heading>
          )}
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}

/** Where the element above the dialog ends, for its style. */
function useEdges(above: ModalProps['below']): CSSProperties {
  const [, draw] = useReducer((turn: number) => turn + 1, 0)
  useEffect(() => {
    addEventListener('resize', draw)
    return () => removeEventListener('resize', draw)
  }, [])
  const { bottom = 0, right = 0 } = above?.current?.getBoundingClientRect() ?? {}
  return { '--below': `${bottom}px`, '--right': `${right}px` } as CSSProperties
}
