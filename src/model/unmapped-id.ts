/**
 * A user and group that is mapped into no environment. What belongs to them is closed to everybody
 * inside, root included, who may read files of all users that are mapped: also in environments that
 * were made before, whatever their mask. Root of the host passes.
 */
export const unmappedId = 0xffff_fffe
