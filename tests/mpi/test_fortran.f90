! The Fortran modules: every function once, with results that are known, and what is refused.
program test_fortran
    use mpi
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
    use tally
    use tally_mpi
    implicit none
    real(real64), target :: x(2, 3) = reshape([1, 2, 3, 4, 5, 6], [2, 3]), d(4), one(1), six(6)
    real(real32), target :: f(3) = [1.0, 1e8, -1e8], g
    integer(int8), target :: b(3) = [100_int8, 100_int8, 100_int8]
    integer(int16), target :: h(2) = [7_int16, -9_int16]
    integer(int32), target :: i(2) = [5, 8], low
    integer(int64), target :: l, offsets(3) = [0, 2, 6]
    integer(int32), target :: narrow(3) = [0, 2, 6], ids(6) = [1, 0, 1, 0, 9, 1]
    integer(int32), target :: lengths(3) = [1, 0, 5], begins(2) = [1, 0], ends(2) = [3, 6]
    integer(int64), target :: sorted(6) = [0, 0, 0, 2, 2, 2]
    type(c_ptr) :: context
    type(tally_options) :: options
    integer :: rank, ranks, code

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)

    ! One process.
    call ok(tally_reduce(tally_default, tally_op("sum"), tally_in(x), tally_out(d)), "sum")
    call expect(d(1) == 21, "a sum of f64")
    call ok(tally_reduce(tally_default, tally_op("sum"), tally_in(f), tally_out(g)), "sum of f32")
    call expect(g == 1, "an exact sum of f32")
    call ok(tally_reduce(tally_default, tally_op("sum"), tally_in(b), tally_out(l)), "sum of i8")
    call expect(l == 300, "a sum of i8")
    call ok(tally_reduce(tally_default, tally_op("min"), tally_in(h), tally_out(low)), "min of i16 as i32")
    call expect(low == -9, "a minimum of i16")
    call ok(tally_reduce(tally_default, tally_op("argmax"), tally_in(i), tally_out(l)), "argmax")
    call expect(l == 1, "an index from 0")
    call ok(tally_reduce_pair(tally_default, tally_op("dot"), tally_in(x), tally_in(x), tally_out(d)), "dot")
    call expect(d(1) == 91, "a dot product")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_offsets(offsets), tally_out(d)), &
            "segments")
    call expect(all(d(1:2) == [3, 18]), "segments by i64")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_offsets(narrow), tally_out(d)), &
            "segments")
    call expect(all(d(1:2) == [3, 18]), "segments by i32")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_rows(3_int64, 2_int64, 1_int64), &
                                  tally_out(d)), "the first axis")
    call expect(all(d(1:3) == sum(x, 1)), "the first axis")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_rows(1_int64, 3_int64, 2_int64), &
                                  tally_out(d)), "the second axis")
    call expect(all(d(1:2) == sum(x, 2)), "the second axis")
    call ok(tally_reduce_segments_pair(tally_default, tally_op("dot"), tally_in(x), tally_in(x), tally_offsets(offsets), &
                                       tally_out(d)), "dots of segments")
    call expect(all(d(1:2) == [5, 86]), "dots of segments")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_lengths(lengths), tally_out(d)), &
            "lengths")
    call expect(all(d(1:3) == [1, 0, 20]), "lengths by i32")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), &
                                  tally_segment_ids(sorted, 3_int64), &
                                  tally_out(d)), "ids")
    call expect(all(d(1:3) == [6, 0, 15]), "ids by i64")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_begin_end(begins, ends), &
                                  tally_out(d)), "begins and ends")
    call expect(all(d(1:2) == [5, 21]), "begins and ends by i32")
    call expect(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_begin_end(begins, ends(1:1)), &
                                      tally_out(d)) == tally_bad_argument, "an end too few")
    call ok(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), &
                                  tally_unsorted_ids(ids, 2_int64, tally_outside_left_out), tally_out(d)), "ids")
    call expect(all(d(1:2) == [6, 10]), "ids in any order by i32")
    call expect(tally_reduce_segments(tally_default, tally_op("sum"), tally_in(x), &
                                      tally_unsorted_ids(ids, 2_int64), tally_out(d)) == &
                tally_bad_segments, "an id that is none")
    call named(tally_empty, "EMPTY")
    call named(tally_bad_argument, "BAD_ARGUMENT")
    call named(tally_bad_type, "BAD_TYPE")
    call named(tally_bad_segments, "BAD_SEGMENTS")
    call named(tally_bad_state, "BAD_STATE")
    call named(tally_bad_order, "BAD_ORDER")
    call named(tally_overflow, "OVERFLOW")
    call named(tally_no_memory, "NO_MEMORY")
    call named(tally_no_space, "NO_SPACE")
    call named(tally_unsupported, "UNSUPPORTED")
    call named(tally_no_device, "NO_DEVICE")
    call named(tally_device_failed, "DEVICE_FAILED")
    call ok(tally_context_create(c_null_ptr, context), "a context")
    options = tally_get_options(context)
    options%accuracy = tally_fast
    options%ddof = 1
    call ok(tally_set_options(context, options), "options") ! checks the size of the struct
    options = tally_get_options(context)
    call expect(options%accuracy == tally_fast .and. options%ddof == 1 .and. options%checked == 0, "options")
    call ok(tally_reduce(context, tally_op("sum"), tally_in(f), tally_out(g)), "fast")
    call expect(g == 0, "a sum of f32 that is not exact")

    ! Refused, with a sentence.
    call expect(tally_reduce(tally_default, tally_op("no such"), tally_in(x), tally_out(d)) == 2, "no such operator")
    call expect(index(tally_message(), "neither built in") > 0, "its sentence: "//tally_message())
    call expect(tally_reduce(tally_default, tally_op("sum"), tally_in(x(1, :)), tally_out(d)) == 2, "values apart")

    ! Ranks.
    one = rank + 1
    call ok_mpi(tally_mpi_allreduce(tally_default, tally_op("sum"), tally_in(one), tally_out(d), MPI_COMM_WORLD))
    call expect(d(1) == ranks*(ranks + 1)/2, "a sum over ranks")
    call ok_mpi(tally_mpi_reduce(context, tally_op("sum"), tally_in(one), tally_out(d), ranks - 1, MPI_COMM_WORLD))
    call expect(rank /= ranks - 1 .or. d(1) == ranks*(ranks + 1)/2, "a sum at the last rank")
    call ok_mpi(tally_mpi_allreduce_pair(tally_default, tally_op("dot"), tally_in(one), tally_in(one), tally_out(d), &
                                         MPI_COMM_WORLD))
    call expect(d(1) == ranks*(ranks + 1)*(2*ranks + 1)/6, "a dot product over ranks")
    call ok_mpi(tally_mpi_reduce_pair(tally_default, tally_op("dot"), tally_in(one), tally_in(one), tally_out(d), 0, &
                                      MPI_COMM_WORLD))
    call expect(rank /= 0 .or. d(1) == ranks*(ranks + 1)*(2*ranks + 1)/6, "a dot product at rank 0")
    call ok_mpi(tally_mpi_allreduce_segments_pair(tally_default, tally_op("dot"), tally_in(x), tally_in(x), &
                                                  tally_offsets(offsets), tally_out(d), MPI_COMM_WORLD))
    call expect(all(d(1:2) == [5*ranks, 86*ranks]), "dots of segments of ranks")
    call ok_mpi(tally_mpi_reduce_segments_pair(tally_default, tally_op("dot"), tally_in(x), tally_in(x), &
                                               tally_offsets(offsets), tally_out(d), 0, MPI_COMM_WORLD))
    call expect(rank /= 0 .or. all(d(1:2) == [5*ranks, 86*ranks]), "dots of segments of ranks, at rank 0")
    call ok_mpi(tally_mpi_allreduce_elements_pair(tally_default, tally_op("dot"), tally_in(x), tally_in(x), &
                                                  tally_out(six), MPI_COMM_WORLD))
    call expect(all(six == ranks*[1, 4, 9, 16, 25, 36]), "dots of elements of ranks")
    call ok_mpi(tally_mpi_reduce_elements_pair(tally_default, tally_op("dot"), tally_in(x), tally_in(x), &
                                               tally_out(six), 0, MPI_COMM_WORLD))
    call expect(rank /= 0 .or. all(six == ranks*[1, 4, 9, 16, 25, 36]), "dots of elements of ranks, at rank 0")
    call ok_mpi(tally_mpi_allreduce_segments(tally_default, tally_op("max"), tally_in(x), tally_offsets(offsets), &
                                             tally_out(d), MPI_COMM_WORLD))
    call expect(all(d(1:2) == [2, 6]), "segments of ranks")
    call ok_mpi(tally_mpi_reduce_segments(tally_default, tally_op("sum"), tally_in(x), tally_offsets(offsets), &
                                          tally_out(d), 0, MPI_COMM_WORLD))
    call expect(rank /= 0 .or. all(d(1:2) == [3*ranks, 18*ranks]), "segments of ranks, at rank 0")
    d = rank
    call ok_mpi(tally_mpi_allreduce_elements(tally_default, tally_op("max"), tally_in(d), tally_out(x(:, 1:2)), &
                                             MPI_COMM_WORLD))
    call expect(all(x(:, 1:2) == ranks - 1), "elements of ranks")
    call ok_mpi(tally_mpi_reduce_elements(tally_default, tally_op("min"), tally_in(d), tally_out(x(:, 1:2)), 0, &
                                          MPI_COMM_WORLD))
    call expect(rank /= 0 .or. all(x(:, 1:2) == 0), "elements of ranks, at rank 0")
    call expect(tally_mpi_reduce(tally_default, tally_op("sum"), tally_in(one), tally_out(d), merge(-1, 0, rank == 0), &
                                 MPI_COMM_WORLD) == 2, "a root of -1 on one rank")
    call expect(index(tally_mpi_message(), "rank 0: the root is") == 1, "its sentence: "//tally_mpi_message())
    call tally_context_destroy(context)
    if (rank == 0) print '(a, i0, a)', "fortran: passed on ", ranks, " ranks"
    call MPI_Finalize(code)

contains

    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        print *, "rank ", rank, " failed: ", what
        call MPI_Abort(MPI_COMM_WORLD, 1, code)
    end subroutine
    subroutine named(status, name)
        integer, intent(in) :: status
        character(*), intent(in) :: name
        call expect(tally_status_name(status) == name, name)
    end subroutine
    subroutine ok(status, what)
        integer, intent(in) :: status
        character(*), intent(in) :: what
        call expect(status == tally_ok, what//": "//tally_message())
    end subroutine
    subroutine ok_mpi(status)
        integer, intent(in) :: status
        call expect(status == tally_ok, tally_mpi_message())
    end subroutine
end program
