// How the parts of a sale are shown, in the company's lists of them and inside an opportunity. Their names in a row are their own,
// so that one row may have them all.
import { idOf, textOf } from '../shared/shape.ts';

/** A funnel `f`. */
export const funnel = {
  funnelId: idOf('funnel', 'f.id as funnel_id'),
  funnel: textOf('f.title as funnel'),
};

/** A stage `s` of a funnel. */
export const stage = {
  etapaId: idOf('stage', 's.id as stage_id'),
  etapa: textOf('s.title as stage'),
};

/** A channel `c`. Where there is none, both are "". ENV-08 */
export const channel = {
  canalId: idOf('channel', 'c.id as channel_id'),
  canal: textOf('c.title as channel'),
};
