import type { Context } from '../../context.ts';
import { createProfile } from './create.ts';
import { deleteProfile } from './delete.ts';
import { listProfiles } from './list.ts';
import { showProfile } from './show.ts';
import { useProfile } from './use.ts';

export function commands(context: Context): readonly object[] {
  return [
    listProfiles(context),
    createProfile(context),
    useProfile(context),
    showProfile(context),
    deleteProfile(context),
  ];
}
