import { lazyPart } from './lazy-view.tsx'
import type { ModalProps } from './modal-frame.tsx'

const ModalFrame = lazyPart('ModalFrame', () => import('./modal-frame.tsx'))

export function ModalDialog(props: ModalProps) {
  return props.isOpen && <ModalFrame {...props} />
}
