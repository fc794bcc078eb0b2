/**
 * A user and group that no environment maps. Nobody inside can read what belongs to them, not even root,
 * who may read the files of all mapped users. That holds for older environments too, whatever their mask.
 * Root on the host can read it.
 */
export const unmappedId = 0xffff_fffe
