# perl's sleep and select end early when they are interrupted, and say how long they slept.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
$| = 1;
my $over = '';
vec($over, fileno(STDIN), 1) = 1;
my $noticed = 0;

# Seconds that the whole environment stood still so far, by the watch of launch.c.
sub stood_still {
    open my $file, '<', '../stops' or die;
    return <$file> / 1000;
}

sub check {
    my ($what, $wait) = @_;
    my ($begin, $stops) = (clock_gettime(CLOCK_MONOTONIC), stood_still());
    my $said = $wait->();
    my $took = clock_gettime(CLOCK_MONOTONIC) - $begin;
    Time::HiRes::sleep(1) if $took > 7;
    return if $took >= 1.99 && $took < 7 + stood_still() - $stops && $said eq 'as it should';
    printf "noticed: %s took %.3f s and said %s\n", $what, $took, $said;
    $noticed = 1;
}

print "ready\n";
do {
    check('sleep', sub { my $slept = sleep 2; $slept >= 2 ? 'as it should' : $slept });
    check('select', sub { my $found = select(undef, undef, undef, 2); $found == 0 ? 'as it should' : "$found: $!" });
} until $noticed || select(my $in = $over, undef, undef, 0);
print "ok\n" unless $noticed;
