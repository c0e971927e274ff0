! Sums a field over the ranks that share it: its digits do not depend on how many there are.
!
!     mpirun -n 3 field
!
! The field has 96 x 64 x 40 points; each rank has some of the 40 levels. Values are large and of both signs, so that a
! plain sum loses most of its digits, and which it loses depends on the number of ranks.
program field
    use mpi
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use tally
    use tally_mpi
    implicit none
    integer, parameter :: nx = 96, ny = 64, nz = 40
    real(real64), allocatable, target :: energy(:, :, :), levels(:)
    real(real64), target :: total, mean, plain
    integer(int64), target :: coldest, offsets(0:nz)
    integer :: rank, ranks, first, last, code, k

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    first = nz*rank/ranks + 1
    last = nz*(rank + 1)/ranks
    allocate (energy(nx, ny, first:last), levels(nz))
    call fill(energy, first)

    call check(tally_mpi_allreduce(tally_default, tally_op("sum"), tally_in(energy), tally_out(total), MPI_COMM_WORLD))
    call check(tally_mpi_allreduce(tally_default, tally_op("mean"), tally_in(energy), tally_out(mean), MPI_COMM_WORLD))
    ! Where it is coldest, counted from 0 in the whole field.
    call check(tally_mpi_allreduce(tally_default, tally_op("argmin"), tally_in(energy), tally_out(coldest), &
                                   MPI_COMM_WORLD))
    ! The sum of each level: forty segments, of which this rank has its own levels, and nothing of the others.
    offsets = [(int(nx*ny, int64)*min(max(k - first + 1, 0), last - first + 1), k=0, nz)]
    call check(tally_mpi_allreduce_segments(tally_default, tally_op("sum"), tally_in(energy), tally_offsets(offsets), &
                                            tally_out(levels), MPI_COMM_WORLD))
    ! What MPI itself gives.
    plain = sum(energy)
    call MPI_Allreduce(MPI_IN_PLACE, plain, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)

    if (rank == 0) then
        print '(a, es24.16, a, es24.16, a, i0)', 'sum', total, ', mean', mean, ', coldest at ', coldest
        print '(a, 2es24.16)', 'sums of the first and the last level', levels(1), levels(nz)
        print '(a, es24.16, a, i0, a)', 'plain sum', plain, ' on ', ranks, ' ranks'
    end if
    call MPI_Finalize(code)

contains

    ! Each value follows from its place alone, by integers.
    subroutine fill(x, first)
        real(real64), intent(out) :: x(:, :, :)
        integer, intent(in) :: first
        integer :: i, j, k
        integer(int64) :: place
        do k = 1, size(x, 3)
            do j = 1, size(x, 2)
                do i = 1, size(x, 1)
                    place = i + nx*(j + ny*int(k + first - 1, int64))
                    place = modulo(place*1103515245_int64 + 12345_int64, 2147483648_int64)
                    x(i, j, k) = real(place - 1073741824_int64, real64)*10.0_real64**int(modulo(place, 25_int64))
                end do
            end do
        end do
    end subroutine

    subroutine check(status)
        integer, intent(in) :: status
        if (status == tally_ok) return
        print *, tally_mpi_message()
        call MPI_Abort(MPI_COMM_WORLD, 1, code)
    end subroutine
end program
