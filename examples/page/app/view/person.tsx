import type { SceneName } from '../../record.ts';
import { numberOf, type Place } from '../model/places.ts';
import type { PersonNow } from '../model/scene.ts';
import { words } from '../state.ts';
import { Badge, Buyer, Car } from './figures.tsx';

const JUDGED = { won: true, wrong: false } as const;

export function Person({ scene, person, place }: { scene: SceneName; person: PersonNow; place: Place }) {
  const { doing, process } = person;
  const number = numberOf(person);
  const { who, doing: does } = words.value;
  return (
    <g
      class={`person ${doing} process-${process}`}
      data-who={person.who}
      style={{ transform: `translate(${place.x}px, ${place.y}px)` }}
    >
      <title>{`${who(scene, number)}: ${does[doing]}`}</title>
      {scene === 'sale' ? <Buyer /> : <Car />}
      <text y={scene === 'sale' ? 6 : 3}>{number}</text>
      {(doing === 'won' || doing === 'wrong') && <Badge good={JUDGED[doing]} />}
    </g>
  );
}
